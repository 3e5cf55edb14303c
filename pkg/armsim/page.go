package armsim

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// defaultPage is how many items a page of a list holds.
const defaultPage = 1000

const skipToken = "$skipToken"

// page answers the part of a list that the request asks for, with a nextLink
// to the rest. Records keep their place, so what comes or goes between two
// pages neither repeats nor hides others.
func (s *Server) page(q *request, all []*record, show func(*record) any) response {
	size := s.opts.PageSize
	if size <= 0 {
		size = defaultPage
	}
	if top := parameter(q.query, "$top"); top != "" {
		n, err := strconv.Atoi(top)
		if err != nil || n < 1 {
			return fail(http.StatusBadRequest, "InvalidTopParameter", "The value '%s' of $top is no positive number.", top)
		}
		size = min(size, n)
	}
	after, first := 0, true
	if token := parameter(q.query, skipToken); token != "" {
		b, err := base64.RawURLEncoding.DecodeString(token)
		n, err2 := strconv.Atoi(string(b))
		if err != nil || err2 != nil {
			return fail(http.StatusBadRequest, "InvalidSkipToken", "The value of %s is none that a nextLink gave.", skipToken)
		}
		after, first = n, false
	}
	slices.SortFunc(all, func(a, b *record) int { return cmp.Compare(a.seq, b.seq) })
	i, _ := slices.BinarySearchFunc(all, after+1, func(r *record, n int) int { return cmp.Compare(r.seq, n) })
	all = all[i:]
	if s.opts.EmptyPages && first {
		size = 0
	}
	body := map[string]any{}
	if len(all) > size {
		last := after
		if size > 0 {
			last = all[size-1].seq
		}
		body["nextLink"] = nextLink(q, last)
		all = all[:size]
	}
	items := make([]any, 0, len(all))
	for _, r := range all {
		items = append(items, show(r))
	}
	body["value"] = items
	return ok(http.StatusOK, body)
}

func nextLink(q *request, after int) string {
	next := url.Values{}
	for k, v := range q.query {
		if !strings.EqualFold(k, skipToken) {
			next[k] = v
		}
	}
	next.Set(skipToken, base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(after))))
	return q.base + (&url.URL{Path: q.path}).EscapedPath() + "?" + next.Encode()
}

// parameter reads a query parameter; its name's case does not count.
func parameter(query url.Values, name string) string {
	for k, v := range query {
		if strings.EqualFold(k, name) && len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// filter is a $filter of a resources list: comparisons joined by "and".
type filter map[string]string

// parseFilter reads what ARM documents for resources: name, resourceType,
// resourceGroup, location, tagName and tagValue, each eq 'value'.
func parseFilter(text string) (filter, bool) {
	f := filter{}
	if strings.TrimSpace(text) == "" {
		return f, true
	}
	for part := range strings.SplitSeq(text, " and ") {
		name, value, found := strings.Cut(strings.TrimSpace(part), " eq ")
		value = strings.TrimSpace(value)
		name = strings.ToLower(strings.TrimSpace(name))
		if !found || len(value) < 2 || value[0] != '\'' || value[len(value)-1] != '\'' {
			return nil, false
		}
		if !slices.Contains([]string{"name", "resourcetype", "resourcegroup", "location", "tagname", "tagvalue"}, name) {
			return nil, false
		}
		f[name] = strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	return f, true
}

func (f filter) matches(r *record) bool {
	location, _ := r.body["location"].(string)
	for name, have := range map[string]string{
		"name": r.id.Name(), "resourcetype": r.desc.Type, "resourcegroup": r.id.ResourceGroup, "location": location,
	} {
		if want, asked := f[name]; asked && !strings.EqualFold(want, have) {
			return false
		}
	}
	return f.matchesTags(r)
}

func (f filter) matchesTags(r *record) bool {
	name, asked := f["tagname"]
	value, valued := f["tagvalue"]
	if !asked && !valued {
		return true
	}
	tags, _ := r.body["tags"].(map[string]any)
	for k, v := range tags {
		if (!asked || strings.EqualFold(k, name)) && (!valued || v == value) {
			return true
		}
	}
	return false
}
