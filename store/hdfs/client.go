package hdfs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
	krb "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
)

const (
	dialTimeout = 20 * time.Second // Hadoop's ipc.client.connect.timeout
	// ioTimeout bounds each read and write of a connection. Hadoop's
	// dfs.client.socket-timeout is 60 s. A datanode that waits for a writer
	// sends something only every 30 s.
	ioTimeout = 90 * time.Second
	// A client asks the namenode to renew its leases every second as long as it
	// exists, so idle ones do not live long.
	maxIdle     = 16
	idleTimeout = 5 * time.Second
)

// client is a connection to a namenode, and connections to datanodes. A call
// has one for itself: the library has no contexts, so a call is cancelled by
// cutting all connections of its client.
type client struct {
	*hdfs.Client
	cluster *cluster

	mu       sync.Mutex
	ctx      context.Context // of the call
	stop     func() bool     // ends the wait for ctx
	conns    map[*conn]bool  // true for those to namenodes
	namenode string          // dialled last
	isCut    bool
	idle     *time.Timer
}

// cluster has the clients of a namenode, or of several of which one is active.
type cluster struct {
	options hdfs.ClientOptions

	mu    sync.Mutex
	idle  []*client
	first string // the namenode that answered last
}

// take returns a client for one call. ctx cuts its connections. The caller
// releases it.
func (c *cluster) take(ctx context.Context) (*client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	var cl *client
	if n := len(c.idle); n > 0 {
		cl, c.idle = c.idle[n-1], c.idle[:n-1]
		cl.idle.Stop()
	}
	first := c.first
	c.mu.Unlock()
	if cl != nil {
		cl.begin(ctx)
		return cl, nil
	}
	cl = &client{cluster: c, conns: map[*conn]bool{}}
	cl.begin(ctx)
	o := c.options
	// The library tries the namenodes in this order.
	o.Addresses = slices.Clone(o.Addresses)
	if i := slices.Index(o.Addresses, first); i > 0 {
		o.Addresses[0], o.Addresses[i] = o.Addresses[i], o.Addresses[0]
	}
	o.NamenodeDialFunc = func(_ context.Context, network, addr string) (net.Conn, error) {
		return cl.dial(network, addr, true)
	}
	o.DatanodeDialFunc = func(_ context.Context, network, addr string) (net.Conn, error) {
		return cl.dial(network, addr, false)
	}
	var err error
	if cl.Client, err = hdfs.NewClient(o); err != nil {
		cl.stop()
		cl.cut()
		return nil, err
	}
	return cl, nil
}

// begin gives the client to a call.
func (cl *client) begin(ctx context.Context) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.ctx, cl.stop = ctx, context.AfterFunc(ctx, cl.cut)
}

// release ends a call. A client without an error serves other calls.
func (cl *client) release(err error) {
	cutting := !cl.stop()
	cl.mu.Lock()
	for conn, namenode := range cl.conns {
		if !namenode { // the library leaves some open
			_ = conn.Conn.Close()
			delete(cl.conns, conn)
		}
	}
	isCut, namenode := cl.isCut || cutting, cl.namenode
	cl.mu.Unlock()
	lost := []*client{cl}
	c := cl.cluster
	c.mu.Lock()
	switch {
	case isCut:
	case err != nil && !answered(err):
		lost = append(lost, c.idle...) // their namenode is likely gone, too
		c.idle = nil
	default:
		c.first = namenode
		if len(c.idle) < maxIdle {
			c.idle = append(c.idle, cl)
			cl.idle = time.AfterFunc(idleTimeout, cl.expire)
			lost = nil
		}
	}
	c.mu.Unlock()
	for _, cl := range lost {
		cl.close()
	}
}

// expire closes a client that is idle.
func (cl *client) expire() {
	c := cl.cluster
	c.mu.Lock()
	i := slices.Index(c.idle, cl)
	if i >= 0 {
		c.idle = slices.Delete(c.idle, i, i+1)
	}
	c.mu.Unlock()
	if i >= 0 {
		cl.close()
	}
}

// close ends a client that no call has.
func (cl *client) close() {
	if cl.idle != nil {
		cl.idle.Stop()
	}
	cl.cut() // Close waits for the namenode's answer to a renewal
	_ = cl.Client.Close()
}

// cut closes all connections for good.
func (cl *client) cut() {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.isCut = true
	for conn := range cl.conns {
		_ = conn.Conn.Close()
	}
}

func (cl *client) dial(network, addr string, namenode bool) (net.Conn, error) {
	cl.mu.Lock()
	ctx := cl.ctx
	cl.mu.Unlock()
	d := net.Dialer{Timeout: dialTimeout}
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cn := &conn{Conn: nc, client: cl}
	cn.in = bufio.NewReaderSize(raw{cn}, 64<<10)
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.isCut {
		return nil, errors.Join(net.ErrClosed, nc.Close())
	}
	cl.conns[cn] = namenode
	if namenode {
		cl.namenode = addr
	}
	return cn, nil
}

// conn is a connection of a client. It has a buffer because the library reads
// some bytes at a time.
type conn struct {
	net.Conn
	client *client
	in     *bufio.Reader
}

func (c *conn) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c *conn) Write(p []byte) (int, error) {
	c.client.mu.Lock()
	isCut := c.client.isCut
	c.client.mu.Unlock()
	if isCut {
		// The library's writers end their goroutines only if writing works.
		return len(p), nil
	}
	if err := c.SetWriteDeadline(time.Now().Add(ioTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *conn) Close() error {
	c.client.mu.Lock()
	delete(c.client.conns, c)
	c.client.mu.Unlock()
	return c.Conn.Close()
}

// raw reads a connection without its buffer.
type raw struct{ *conn }

func (r raw) Read(p []byte) (int, error) {
	if err := r.SetReadDeadline(time.Now().Add(ioTimeout)); err != nil {
		return 0, err
	}
	return r.Conn.Read(p)
}

// cluster returns the cluster of a URI's authority.
func (b *Backend) cluster(authority string) (*cluster, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.clusters[authority]; c != nil {
		return c, nil
	}
	addresses, err := b.addresses(authority)
	if err != nil {
		return nil, err
	}
	o := hdfs.ClientOptionsFromConf(b.conf)
	o.Addresses = addresses
	if o.KerberosClient != nil {
		if o.KerberosClient, err = kerberos(); err != nil {
			return nil, fmt.Errorf("hadoop.security.authentication is kerberos: %w", err)
		}
	} else if o.User, err = userName(); err != nil {
		return nil, err
	}
	c := &cluster{options: o}
	b.clusters[authority] = c
	return c, nil
}

// addresses returns the namenodes of a URI's authority: a host with an optional
// port, the name of a name service, or nothing for the default of the
// configuration.
func (b *Backend) addresses(authority string) ([]string, error) {
	if authority == "" {
		uri := b.conf["fs.defaultFS"]
		if uri == "" {
			uri = b.conf["fs.default.name"] // the old name
		}
		rest, ok := strings.CutPrefix(uri, scheme+"://")
		authority, _, _ = strings.Cut(rest, "/")
		if !ok || authority == "" {
			return nil, fmt.Errorf("no namenode: fs.defaultFS is %q in the configuration (HADOOP_CONF_DIR, HADOOP_HOME): want hdfs://HOST:PORT, or a name with a host", uri)
		}
	}
	if nodes := b.conf["dfs.ha.namenodes."+authority]; nodes != "" {
		var l []string
		for node := range strings.SplitSeq(nodes, ",") {
			key := "dfs.namenode.rpc-address." + authority + "." + strings.TrimSpace(node)
			if b.conf[key] == "" {
				return nil, fmt.Errorf("name service %s: the configuration has no %s", authority, key)
			}
			l = append(l, b.conf[key])
		}
		return l, nil
	}
	if _, _, err := net.SplitHostPort(authority); err != nil {
		authority = net.JoinHostPort(strings.Trim(authority, "[]"), "8020") // Hadoop's default
	}
	return []string{authority}, nil
}

// userName returns the user that HDFS sees without Kerberos.
func userName() (string, error) {
	if name := os.Getenv("HADOOP_USER_NAME"); name != "" {
		return name, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("HADOOP_USER_NAME is not set, and the system's user is unknown: %w", err)
	}
	return u.Username, nil
}

// kerberos returns a client with the tickets of kinit.
func kerberos() (*krb.Client, error) {
	path := os.Getenv("KRB5_CONFIG")
	if path == "" {
		path = "/etc/krb5.conf"
	}
	cfg, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	path = strings.TrimPrefix(os.Getenv("KRB5CCNAME"), "FILE:")
	if strings.Contains(path, ":") {
		return nil, fmt.Errorf("KRB5CCNAME is %s: want a file", path)
	}
	if path == "" {
		path = fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())
	}
	tickets, err := credentials.LoadCCache(path)
	if err != nil {
		return nil, fmt.Errorf("tickets of kinit: %w", err)
	}
	return krb.NewFromCCache(tickets, cfg)
}
