import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openRig, sendRaw, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const refusal = (code: number) => ({ code, http: Math.floor(code / 100), error: expect.any(String) });

describe('parameters', () => {
  it.each([
    ['X-Title', 't', 'title', 'T'],
    ['Message', 'm', 'message', 'M'],
    ['Prio', 'p', 'priority', 'urgent', 5],
    ['Ta', 'tags', 'tags', ' a , ,b,', ['a', 'b']],
    ['X-Click', 'click', 'click', 'geo:1,2'],
    ['Icon', 'x-icon', 'icon', 'https://i.example/'],
    ['MD', 'markdown', 'content_type', 'Yes', 'text/markdown'],
    ['SID', 'sequence-id', 'sequence_id', 'S-1'],
  ])(
    'accepts %s as a header and %s in the query for %s',
    async (header, query, field, value, expected: unknown = value) => {
      expect(await rig.publish('/aliases', '', { [header]: value })).toMatchObject({ [field]: expected });
      expect(await rig.publish(`/aliases?${query}=${encodeURIComponent(value)}`, '')).toMatchObject({
        [field]: expected,
      });
    },
  );

  it('prefers headers to the query and skips empty ones', async () => {
    const both = await rig.publish('/g?title=query&t=late', 'x', { Title: 'header' });
    expect(both.title).toBe('header');
    const fallback = await rig.publish('/g?title=query', 'x', { 'X-Title': '', Title: ' ', T: 'third' });
    expect(fallback.title).toBe('third');
  });

  it('prefers the body to the message parameter and unescapes \\n of the latter', async () => {
    expect((await rig.publish('/g', ' body\n', { Message: 'parameter' })).message).toBe('body');
    expect((await rig.publish('/g', '', { Message: 'one\\ntwo' })).message).toBe('one\ntwo');
  });

  it('ignores a transport priority and keeps an explicit default priority', async () => {
    expect(await rig.publish('/g', 'x', { Priority: 'u=1, i' })).not.toHaveProperty('priority');
    expect(await rig.publish('/g', 'x', { Priority: '3' })).toMatchObject({ priority: 3 });
  });

  it('uses the first of repeated headers', async () => {
    const head = 'Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: 1\r\n';
    const twice = 'Title: one\r\nTitle: two\r\nTags: a,b\r\nTags: c\r\nX-Click: x, y\r\n';
    const reply = await sendRaw(rig.port, `POST /g HTTP/1.1\r\n${head}Authorization: ${admin}\r\n${twice}\r\nx`);
    expect(JSON.parse(reply.slice(reply.indexOf('{')))).toMatchObject({
      title: 'one',
      tags: ['a', 'b'],
      click: 'x, y',
    });
  });

  it('publishes a poll request without other fields, immediately', async () => {
    const order = { 'X-Poll-ID': 'abc', Title: 'T', Priority: '5', Tags: 'a', Delay: '1h', 'X-Sequence-ID': 's' };
    const message = await rig.publish('/g', 'body', order);
    expect(Object.keys(message)).toEqual(['id', 'time', 'event', 'topic', 'message', 'poll_id']);
    expect(message.time - Date.now() / 1000).toBeLessThan(60);
  });

  it('derives the name of an external file without path from any URL', async () => {
    const message = await rig.publish('/g', '', { Attach: 'https://x.example/a/..%2F..%2Fetc%2Fpasswd?q=1' });
    expect(message.attachment.name).toBe('passwd');
  });

  it("renders a webhook with ntfy's functions", async () => {
    const { title, message } = await rig.publish(
      '/g?template=yes',
      JSON.stringify({ host: 'nas-01', load: [0.5, 9.25] }),
      {
        Title: '{{ regexReplaceAll "-(\\\\d+)$" .host " no. ${1}" }}',
        Message:
          '{{ toJSON .load }} {{ dig "zone" "eu" . }} {{ sha1sum .host | trunc 8 }} {{ mustLast .load | printf "%.1f" }}',
      },
    );
    expect({ title, message }).toEqual({ title: 'nas no. 01', message: '[0.5,9.25] eu 0308ca97 9.2' });
  });

  it('describes a resolved alert', async () => {
    const alert = {
      labels: { alertname: 'Disk', instance: 'nas:9100', severity: 'critical' },
      startsAt: 'A',
      endsAt: 'B',
    };
    const webhook = { status: 'resolved', receiver: 'push', alerts: [{ ...alert, generatorURL: 'http://p' }] };
    expect(await rig.publish('/g?template=alertmanager', JSON.stringify(webhook))).toMatchObject({
      title: '✅ Resolved: Disk',
      message:
        'Status: Resolved\nReceiver: push\nAlert: Disk\nInstance: nas:9100\nSeverity: critical\nStarts at: AEnds at: B\nSource: http://p',
    });
    expect(await rig.publish('/g?template=grafana', '{"status":"resolved","message":"m"}')).toMatchObject({
      title: '✅ Alert resolved',
    });
  });

  it('stops a regular expression in time', async () => {
    const template = '{{ range 10000 }}{{ regexFind "(x+x+)+y" (repeat 9000 "x") }}{{ end }}';
    const { status, text } = await rig.ask(
      'POST',
      `/g?tpl=yes&m=${encodeURIComponent(template)}`,
      { Authorization: admin },
      '{}',
    );
    expect({ status, code: (JSON.parse(text) as { code: number }).code }).toEqual({ status: 400, code: 40055 });
  });

  it('reports data that is nested too deeply for a template', async () => {
    const body = `{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
    for (const template of ['{{ . }}', '{{ toJson . }}', '{{ printf "%v" .a }}', '{{ eq .a .a }}']) {
      const { text } = await rig.ask(
        'POST',
        `/g?tpl=yes&m=${encodeURIComponent(template)}`,
        { authorization: admin },
        body,
      );
      expect(JSON.parse(text), template).toMatchObject(refusal(40045));
    }
  });

  it('publishes a form as text', async () => {
    const message = await rig.publish('/g', 'a=b&c=d', { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(message.message).toBe('a=b&c=d');
  });

  it('ignores an invalid sequence id and prefers the path', async () => {
    expect(await rig.publish('/g/path', 'x', { 'X-Sequence-ID': 'header' })).toMatchObject({ sequence_id: 'path' });
    expect(await rig.publish('/g/publish', 'x')).toMatchObject({ sequence_id: 'publish' });
    expect(await rig.publish('/g')).not.toHaveProperty('sequence_id');
  });
});

describe('text', () => {
  it('decodes UTF-8 headers, raw or as encoded words', async () => {
    const bytes = Buffer.from('Größe 🚨 ✓', 'utf8').toString('latin1');
    expect((await rig.publish('/g', 'x', { Title: bytes })).title).toBe('Größe 🚨 ✓');
    expect((await rig.publish('/g', 'x', { Title: '=?UTF-8?B?R3LDtsOfZQ==?=' })).title).toBe('Größe');
  });

  it('keeps HTML and control characters, on one line', async () => {
    const message = await rig.publish('/control', '<b>&</b>\r\n"\u2028\u0001');
    expect(message.message).toBe('<b>&</b>\r\n"\u2028\u0001');
    const { text } = await rig.ask('GET', '/control/json?poll=1', { authorization: admin });
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(text).toContain('<b>&</b>');
  });

  it('becomes an attachment at the size limit', async () => {
    expect((await rig.publish('/g', 'ü'.repeat(2047) + 'x')).message).toHaveLength(2048);
    const long = await rig.ask('POST', '/g', { authorization: admin }, 'x'.repeat(4096));
    expect(JSON.parse(long.text)).toMatchObject({ attachment: { name: 'attachment.txt', size: 4096 } });
    const json = await rig.ask(
      'POST',
      '/',
      { authorization: admin },
      JSON.stringify({ topic: 'g', message: 'x'.repeat(4096) }),
    );
    expect(JSON.parse(json.text)).toMatchObject({ attachment: { name: 'attachment.txt', size: 4096 } });
    const huge = await rig.ask(
      'POST',
      '/',
      { authorization: admin },
      JSON.stringify({ topic: 'g', message: 'x'.repeat(9000) }),
    );
    expect(JSON.parse(huge.text)).toMatchObject(refusal(41303));
  });

  it('becomes a file when it is binary, and is refused when it is too long for clients', async () => {
    const binary = await rig.ask('POST', '/g', { authorization: admin }, Buffer.from([0, 255, 1]));
    expect(JSON.parse(binary.text)).toMatchObject({
      message: 'You received a file: attachment.bin',
      attachment: { type: 'application/octet-stream', size: 3 },
    });
    // Each character takes six characters in JSON.
    const line = await rig.ask(
      'POST',
      `/g?title=${'%01'.repeat(10_000)}`,
      { authorization: admin },
      '\u0001'.repeat(4000),
    );
    expect(JSON.parse(line.text)).toMatchObject(refusal(40000));
  });
});

describe('JSON', () => {
  const post = async (body: unknown, headers = {}) => {
    const response = await rig.ask(
      'POST',
      '/',
      { authorization: admin, ...headers },
      typeof body === 'string' ? body : JSON.stringify(body),
    );
    return JSON.parse(response.text);
  };

  it('overrides the header of a field and keeps the others', async () => {
    expect(
      await post(
        { topic: 'j', title: 'json', message: ' m ' },
        { 'X-Title': 'header', 'X-Priority': '4', 'X-Tags': 'a' },
      ),
    ).toMatchObject({
      title: 'json',
      message: 'm',
      priority: 4,
      tags: ['a'],
    });
  });

  it('accepts numeric text as priority, null fields, unknown fields and PUT', async () => {
    expect(
      await post({
        topic: 'j',
        priority: '5',
        title: null,
        tags: null,
        actions: [],
        extra: { a: 1 },
        sequence_id: 's',
      }),
    ).toMatchObject({
      priority: 5,
      message: 'triggered',
      sequence_id: 's',
    });
    const putResponse = await rig.ask(
      'PUT',
      '/',
      { authorization: admin },
      JSON.stringify({ topic: 'j', cache: 'no' }),
    );
    expect(JSON.parse(putResponse.text)).not.toHaveProperty('expires');
  });

  it('accepts field names in any case, and replaces lone surrogates', async () => {
    expect(await post({ Topic: 'j', MESSAGE: 'm', Title: 't', __proto__: {} })).toMatchObject({
      topic: 'j',
      message: 'm',
      title: 't',
    });
    const text = '{"topic":"j","title":"a\\ud800","message":"\\udc00b","__proto__":{"title":"x"},"constructor":1}';
    expect(await post(text)).toMatchObject({ title: 'a\ufffd', message: '\ufffdb' });
  });

  it('may be as deep as its size allows', async () => {
    for (const field of ['x', 'actions', 'tags', 'topic', '__proto__']) {
      const text = `{"topic":"j","${field}":${'['.repeat(3900)}${']'.repeat(3900)}}`;
      expect((await post(text)).code ?? 200, field).toBeLessThan(50_000);
    }
    expect((await post({ topic: 'j' })).id).toHaveLength(12);
  });

  it.each([
    ['null', 40024],
    ['[]', 40024],
    ['"x"', 40024],
    ['', 40024],
    ['{"message":"no topic"}', 40009],
    ['{"topic":["g"]}', 40009],
    ['{"topic":"v1"}', 40010],
    ['{"topic":"g","priority":9}', 40007],
    ['{"topic":"g","tags":"a"}', 40024],
    ['{"topic":"g","delay":"soonish"}', 40004],
    ['{"topic":"g","email":"a@b.example"}', 40001],
    ['{"topic":"g","actions":[{"action":"jump"}]}', 40018],
    [Buffer.from([0x7b, 0xff]).toString('latin1'), 40024],
  ])('refuses %s with %i', async (body, code) => {
    expect(await post(body)).toMatchObject(refusal(code));
  });
});

describe('unsupported features', () => {
  it.each([
    ['E-Mail', 'yes', 40001],
    ['X-Call', '+1234', 40032],
  ])('refuses %s: %s', async (header, value, code) => {
    const response = await rig.ask('POST', '/unserved', { authorization: admin, [header]: value }, 'x');
    expect(JSON.parse(response.text)).toMatchObject(refusal(code));
    expect(await rig.poll('/unserved/json?poll=1')).toEqual([]);
  });

  it.each(['/v1/tiers', '/file/AAAAAAAAAAAA.txt'])('responds with 404 to %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await rig.ask(method, path, { authorization: admin });
      expect(JSON.parse(response.text)).toMatchObject(refusal(40401));
    }
  });
});

describe('unusual topics', () => {
  it.each([
    ...[
      '/a%20b',
      '/%ff',
      '/%',
      '/%2e%2e%2fetc',
      `/${'x'.repeat(65)}`,
      '/a,b',
      '//g',
      '/g/',
      '/g/a/b/c',
      '/%C3%BC',
      '/g%00',
    ],
    ...['/g/a%2Fb/c', '/.', '/..', '/g%0d%0a'],
  ])('does not publish for POST %s', async (path) => {
    const response = await rig.ask('POST', path, { authorization: admin }, 'x');
    expect(JSON.parse(response.text)).toMatchObject(refusal(40401));
  });

  it.each(['__proto__', 'constructor', 'toString', '-', '_', 'x'.repeat(64)])(
    'treats %s as a normal topic',
    async (topic) => {
      await rig.publish(`/${topic}`, 'm');
      expect(await rig.poll(`/${topic}/json?poll=1`)).toMatchObject([{ topic, message: 'm' }]);
    },
  );

  it.each(['docs', 'v1', 'file', 'metrics'])('reserves %s', async (topic) => {
    const publish = await rig.ask('POST', '/', { authorization: admin }, JSON.stringify({ topic }));
    expect(JSON.parse(publish.text)).toMatchObject(refusal(40010));
    const poll = await rig.ask('GET', `/g,${topic}/json?poll=1`, { authorization: admin });
    expect(JSON.parse(poll.text)).toMatchObject(refusal(40010));
  });
});

describe('authorization', () => {
  const refused = async (headers: Record<string, string>, path = '/private') => {
    const { status, text, headers: responseHeaders } = await rig.ask('POST', path, headers, 'x');
    expect(responseHeaders['www-authenticate']).toBeUndefined();
    return { status, code: JSON.parse(text).code };
  };

  it('distinguishes visitors, wrong credentials and unknown schemes', async () => {
    expect(await refused({})).toEqual({ status: 403, code: 40301 });
    expect(await refused({ authorization: 'Basic bm9ib2R5Om5vcGU=' })).toEqual({ status: 401, code: 40101 });
    expect(await refused({ authorization: 'Bearer tk_00000000000000000000000000000' })).toEqual({
      status: 401,
      code: 40101,
    });
    expect(await refused({ authorization: 'WebPush abc' })).toEqual({ status: 403, code: 40301 });
    expect((await rig.ask('GET', '/v1/health', { authorization: 'Basic bm9ib2R5Om5vcGU=' })).status).toBe(401);
  });

  it('accepts a token as Bearer, as a password and in ?auth=', async () => {
    const { text } = await rig.context.accounts.createToken('admin', { label: 't', expiresAt: null });
    const basic = `Basic ${Buffer.from(`:${text}`).toString('base64')}`;
    const auth = (value: string) => `/g?auth=${Buffer.from(value).toString('base64url')}`;
    for (const [path, headers] of [
      ['/g', { authorization: `Bearer ${text}` }],
      ['/g', { authorization: basic }],
      [auth(`Bearer ${text}`), {}],
      [auth(basic).replace('auth', 'authorization'), {}],
    ] as const) {
      expect((await rig.ask('POST', path, headers, 'x')).status).toBe(200);
    }
    expect(rig.host.log.join('\n')).not.toContain(text);
    expect(rig.host.log.join('\n')).not.toContain(Buffer.from(`Bearer ${text}`).toString('base64url'));
  });

  it('allows visitors with a grant to everyone', async () => {
    const { accounts } = rig.context;
    await accounts.change('*', { grants: [{ service: 'push', resource: 'public-*', permission: 'write' }] });
    expect((await rig.ask('POST', '/public-1', {}, 'x')).status).toBe(200);
    expect((await rig.ask('GET', '/public-1/json?poll=1')).status).toBe(403);
    await accounts.change('*', { grants: [] });
    expect((await rig.ask('POST', '/public-1', {}, 'x')).status).toBe(403);
  });

  it("responds with 429 after too many wrong passwords, in ntfy's format", async () => {
    let answer = await rig.ask('GET', '/v1/health', { authorization: 'Basic Ym9iOjA=' });
    for (let attempt = 1; attempt < 100 && answer.status === 401; attempt += 1) {
      answer = await rig.ask('GET', '/v1/health', {
        authorization: `Basic ${Buffer.from(`bob:${attempt}`).toString('base64')}`,
      });
    }
    expect(answer.status).toBe(429);
    expect(JSON.parse(answer.text)).toMatchObject(refusal(42909));
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  });
});

describe('hostile requests', () => {
  it('cannot inject a line break with a header', async () => {
    const head =
      `POST /smuggle HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\n` +
      'Connection: close\r\nContent-Length: 1\r\n';
    expect(await sendRaw(rig.port, `${head}Title: a\rX-Priority: 5\r\n\r\nx`)).toMatch(/^HTTP\/1.1 400/);
    const encoded = await sendRaw(rig.port, `${head}Title: =?utf-8?q?a=0D=0Ab?=\r\n\r\nx`);
    expect(encoded).toMatch(/^HTTP\/1.1 200/);
    expect(encoded.split('\r\n\r\n')[1]).toContain('a\\r\\nb');
    expect(await rig.poll('/smuggle/json?poll=1')).toMatchObject([{ title: 'a\r\nb' }]);
  });

  it('refuses a header of 1 MB, without affecting the next request', async () => {
    const head = `POST /g HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nContent-Length: 1\r\n`;
    expect(await sendRaw(rig.port, `${head}Title: ${'x'.repeat(1024 * 1024)}\r\n\r\nx`)).toMatch(/^(HTTP\/1.1 431|$)/);
    expect((await rig.publish('/g')).message).toBe('x');
  });

  it('responds early to a very large body, with and without Content-Length', async () => {
    for (const headers of [{ 'Content-Length': String(64 * 1024 * 1024) }, { 'Transfer-Encoding': 'chunked' }]) {
      const request = httpRequest({
        port: rig.port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/g',
        headers: { ...headers, authorization: admin },
      });
      request.on('error', () => undefined);
      const writing = setInterval(() => request.write(Buffer.alloc(128 * 1024, 'x')), 1);
      try {
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        expect(response.statusCode).toBe(413);
      } finally {
        clearInterval(writing);
        request.destroy();
      }
    }
  });

  it('releases a publisher that disconnects during its body', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /half HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nContent-Length: 10\r\n\r\nhalf`,
    );
    await rig.publish('/g');
    socket.destroy();
    await rig.publish('/g');
    expect(await rig.poll('/half/json?poll=1')).toEqual([]);
  });

  it('sends only a status for a refused upgrade', async () => {
    const head =
      `GET /g/ws HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nConnection: Upgrade\r\nUpgrade: ` +
      'websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    expect(await sendRaw(rig.port, head)).toMatch(/^HTTP\/1.1 403 [^]*Content-Length: 0\r\n\r\n$/);
  });
});

it('commits 50 concurrent messages once each, in one order for all subscribers', async () => {
  using stream = await rig.listen('/burst/json');
  const published = await Promise.all(Array.from({ length: 50 }, (_, index) => rig.publish('/burst', `m${index}`)));
  expect(new Set(published.map(({ id }) => id)).size).toBe(50);
  await expect.poll(() => stream.messages.length).toBe(50);
  const polled = await rig.poll('/burst/json?poll=1');
  expect(polled).toEqual(stream.messages);
  expect(polled.map(({ id }) => id).sort()).toEqual(published.map(({ id }) => id).sort());
});

describe('server information', () => {
  it('returns the configuration as JSON and as a script', async () => {
    const { text, headers } = await rig.ask('GET', '/v1/config');
    const config = JSON.parse(text);
    expect(headers['cache-control']).toBe('no-cache');
    expect(config).toMatchObject({
      app_root: '/',
      enable_login: true,
      enable_signup: false,
      disallowed_topics: expect.arrayContaining(['v1']),
    });
    const script = await rig.ask('GET', '/config.js');
    expect(script.headers['content-type']).toBe('text/javascript');
    expect(JSON.parse(script.text.replace(/^.*\nvar config = /, '').replace(/;\n$/, ''))).toEqual(config);
  });

  it('returns the version to administrators only', async () => {
    expect((await rig.ask('GET', '/v1/version')).status).toBe(401);
    expect(JSON.parse((await rig.ask('GET', '/v1/version', { authorization: admin })).text)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      commit: expect.any(String),
      date: expect.any(String),
    });
  });

  it('responds to /health like /v1/health', async () => {
    expect((await rig.ask('GET', '/health', { authorization: admin })).text).toBe('{"healthy":true}\n');
  });
});
