package armclient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// List reads a collection item by item and page by page, each page one GET. It
// ends at the first error, which comes with a nil item. A next page on another
// host is an error.
func (c *Client) List(ctx context.Context, r Request) iter.Seq2[map[string]any, error] {
	r.Method = http.MethodGet
	return func(yield func(map[string]any, error) bool) {
		resp, err := c.Do(ctx, r)
		for {
			if err != nil {
				yield(nil, err)
				return
			}
			items, _ := resp.Body["value"].([]any)
			for _, i := range items {
				if m, ok := i.(map[string]any); ok && !yield(m, nil) {
					return
				}
			}
			next, _ := resp.Body["nextLink"].(string)
			if next == "" {
				return
			}
			resp, err = c.page(ctx, r, next)
		}
	}
}

func (c *Client) page(ctx context.Context, r Request, next string) (*Response, error) {
	u, err := url.Parse(next)
	if err == nil && u.Host == "" {
		err = errors.New("expected an absolute URL")
	}
	if err != nil {
		return nil, &CallError{Method: r.Method, Path: r.Path, err: fmt.Errorf("reading the next page's link: %w", err)}
	}
	req, err := runtime.NewRequest(withCall(ctx, call{background: r.Background}), r.Method, next)
	if err != nil {
		return nil, &CallError{Method: r.Method, Path: r.Path, err: fmt.Errorf("making a request: %w", err)}
	}
	raw, body, err := c.send(req)
	if err != nil {
		return nil, err
	}
	resp, err := read(raw, body)
	if err != nil {
		return nil, broken(r.Method, r.Path, err)
	}
	return resp, nil
}
