// Package swagger reads Azure's API descriptions: files, references, shapes
// and the resource types that their paths tell of. It judges nothing; what it
// finds is handed to classify. It works offline.
package swagger
