// Command strip is a program for strip.test.mjs. Its output depends on the
// tables that wasmstrip keeps: stack maps, frame sizes, inlined calls, and the
// names that package runtime compares.
package main

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

type list struct {
	next *list
	text string
}

// deep grows the stack, which is copied with the help of the stack maps, and
// keeps pointers on it over collections.
func deep(n int, l *list) int {
	l = &list{l, strings.Repeat("x", n%7)}
	if n%1000 == 0 {
		runtime.GC()
	}
	if n > 0 {
		return deep(n-1, l) + len(l.text)
	}
	sum := 0
	for ; l != nil; l = l.next {
		sum += len(l.text)
	}
	return sum
}

func recovered(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}

func helper() any { return recover() }

// indirect recovers in a function that a deferred one calls, which does not
// recover, even if the call is inlined.
func indirect() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	defer func() { _ = helper() }()
	panic("not recovered by a helper")
}

type value struct{ n int }

func (v value) get() int { return v.n }

type getter interface{ get() int }

func (v value) Add(a, b int) int { return v.n + a + b }

func main() {
	fmt.Println(deep(3000, nil))
	var empty []int
	var pointer *value
	fmt.Println(recovered(func() { _ = empty[len(empty)+3] }))
	fmt.Println(recovered(func() { _ = pointer.n }))
	fmt.Println(recovered(func() { panic(fmt.Errorf("error %d", 5)) }))
	fmt.Println(strings.HasSuffix(recovered(func() { getter(pointer).get() }), "pointer"))
	fmt.Println(indirect())
	results := make(chan int)
	for i := range 50 {
		go func() { results <- deep(500+i, nil) }()
	}
	sum := 0
	for range 50 {
		sum += <-results
	}
	fmt.Println(sum)
	// reflect.methodValueCall and makeFuncStub have their stack maps by name.
	add := reflect.ValueOf(value{1}).Method(0).Interface().(func(int, int) int)
	fmt.Println(add(2, 3))
	made := reflect.MakeFunc(reflect.TypeFor[func(*list, string) *list](), func(in []reflect.Value) []reflect.Value {
		runtime.GC()
		deep(2000, nil)
		return []reflect.Value{reflect.ValueOf(&list{in[0].Interface().(*list), in[1].String()})}
	}).Interface().(func(*list, string) *list)
	l := made(made(nil, "a"), "b")
	fmt.Println(l.text, l.next.text, runtime.NumGoroutine())
}
