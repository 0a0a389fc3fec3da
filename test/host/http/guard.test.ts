import { describe, expect, test } from 'vitest';
import { exchange, open, request } from './raw.ts';

const otherOrigin = 'Origin: https://evil.example';

describe('Host header', () => {
  test.each(['127.0.0.1', 'localhost', 'LOCALHOST:1', '[::1]', '127.0.0.1:9', 'localhost.'])(
    'accepts %s',
    async (name) => {
      await using opened = await open();
      expect((await request(opened.listener.port, 'GET /', [`Host: ${name}`])).status).toBe(200);
    },
  );

  test.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '',
    '127.0.0.1:port',
    '169.254.169.254',
    '[::1',
  ])('rejects %s with a message', async (name) => {
    await using opened = await open();
    const { status, text } = await request(opened.listener.port, 'GET /', [`Host: ${name}`]);
    expect(status).toBe(403);
    expect(text).toContain('listener.foreign_host');
    expect(text).toContain('allowed host names');
  });

  test('is required once, also in HTTP/1.0', async () => {
    await using opened = await open();
    const { port } = opened.listener;
    expect((await request(port, 'GET /')).status).toBe(403);
    expect((await request(port, 'GET /', ['Host: localhost', 'host: evil.example'])).status).toBe(403);
    expect((await request(port, 'GET /', ['Host: localhost', 'HOST: localhost'])).status).toBe(403);
    expect(await exchange(port, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403/);
    expect(await exchange(port, 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
  });

  test('may contain a configured name', async () => {
    await using opened = await open({ guard: { crossOrigin: 'refuse', hosts: ['Nas.local', 'fd00::5'] } });
    const { port } = opened.listener;
    expect((await request(port, 'GET /', ['Host: nas.local:8443'])).status).toBe(200);
    expect((await request(port, 'GET /', ['Host: [fd00::5]'])).status).toBe(200);
    expect((await request(port, 'GET /', ['Host: www.nas.local'])).status).toBe(403);
  });

  test('is overridden by an absolute request target', async () => {
    await using opened = await open({ handler: { http: (request, response) => void response.end(request.url) } });
    const { port } = opened.listener;
    expect((await request(port, 'GET http://evil.example/a', ['Host: localhost'])).status).toBe(400);
    expect((await request(port, 'GET http://localhost.evil/a', ['Host: localhost'])).status).toBe(400);
    expect((await request(port, 'GET http://localhost/a?b', ['Host: localhost'])).text).toMatch(/\/a\?b$/);
  });

  test('rejects upgrades of another site too', async () => {
    await using opened = await open({
      handler: { http: () => undefined, upgrade: (_request, socket) => void socket.end() },
    });
    const { status, text } = await request(opened.listener.port, 'GET /', [
      'Host: evil.example',
      'Upgrade: websocket',
      'Connection: Upgrade',
    ]);
    expect(status).toBe(403);
    expect(text).toContain('listener.foreign_host');
  });
});

describe('policy refuse', () => {
  test('prevents a page of another origin from reading and changing', async () => {
    await using opened = await open();
    const { port } = opened.listener;
    const read = await request(port, 'GET /', ['Host: localhost', otherOrigin]);
    expect(read.status).toBe(200);
    expect(read.text.toLowerCase()).not.toContain('access-control');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, text } = await request(port, `${method} /`, [
        'Host: localhost',
        otherOrigin,
        'Authorization: Bearer x',
      ]);
      expect(status).toBe(403);
      expect(text).toContain('listener.foreign_origin');
    }
  });

  test.each([
    ['the opaque origin', 'Origin: null', 403],
    ['two origins', 'Origin: http://localhost\r\nOrigin: https://evil.example', 403],
    ['another port of this machine', 'Origin: http://localhost:1', 403],
    ['a name that ends like ours', 'Origin: http://evil-localhost', 403],
    ['our own origin', 'Origin: http://localhost', 200],
    ['our own origin behind TLS', 'Origin: https://localhost', 200],
    ['no browser', 'Accept: */*', 200],
    ['a form of another site in a browser that hides the origin', 'Sec-Fetch-Site: cross-site', 403],
    ['a sibling site', 'Sec-Fetch-Site: same-site', 403],
    ['our own page', 'Sec-Fetch-Site: same-origin', 200],
    [
      'a lying Sec-Fetch-Site beside a foreign origin',
      'Sec-Fetch-Site: same-origin\r\nOrigin: https://evil.example',
      403,
    ],
  ])('handles a POST of %s', async (_name, header, status) => {
    await using opened = await open();
    expect((await request(opened.listener.port, 'POST /', ['Host: localhost', header])).status).toBe(status);
  });

  test('rejects a preflight of another origin and answers an allowed one', async () => {
    await using opened = await open({
      guard: { crossOrigin: 'refuse', allowedOrigins: ['chrome-extension://*', 'https://*.example.org'] },
    });
    const { port } = opened.listener;
    const sendRequest = (origin: string): Promise<{ status: number; text: string }> =>
      request(port, 'OPTIONS /add', [
        'Host: localhost',
        `Origin: ${origin}`,
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: content-type',
        'Access-Control-Request-Private-Network: true',
      ]);
    expect((await sendRequest('https://evil.example')).status).toBe(403);
    expect((await sendRequest('https://evil.example/.example.org')).status).toBe(403);
    const allowed = await sendRequest('chrome-extension://abcdef');
    expect(allowed.status).toBe(204);
    // RFC 9110, section 8.6.
    expect(allowed.text).not.toMatch(/content-length/i);
    expect(allowed.text).toContain('Access-Control-Allow-Origin: chrome-extension://abcdef\r\n');
    expect(allowed.text).toContain('Access-Control-Allow-Headers: content-type\r\n');
    expect(allowed.text).toContain('Access-Control-Allow-Private-Network: true\r\n');
    expect(allowed.text).not.toContain('Allow-Credentials');
    const posted = await request(port, 'POST /add', ['Host: localhost', 'Origin: https://app.example.org']);
    expect(posted.status).toBe(200);
    expect(posted.text).toContain('Access-Control-Allow-Origin: https://app.example.org\r\n');
  });
});

describe('policy credentialed', () => {
  const guard = { crossOrigin: 'credentialed' } as const;

  test.each([
    ['an Authorization header', 'POST /topic', ['Authorization: Bearer tk', 'Sec-Fetch-Mode: cors'], 200],
    ['an auth query', 'POST /topic?auth=x', [], 403],
    ['an authorization query', 'PUT /topic?authorization=x', [], 403],
    ['an auth query it only reads with', 'GET /topic/json?poll=1&auth=x', [], 403],
    ['nothing, and only reads', 'GET /topic/json?poll=1', [], 200],
    ['a cookie only', 'POST /topic', ['Cookie: session=1'], 403],
    ['nothing', 'POST /topic', [], 403],
    [
      'a remembered Basic sign-in on a form',
      'POST /topic',
      ['Authorization: Basic eDp5', 'Sec-Fetch-Mode: navigate'],
      403,
    ],
    ['a query that only looks like it', 'POST /topic?authority=1', [], 403],
  ])('handles a cross-origin page with %s', async (_name, line, headers, status) => {
    await using opened = await open({ guard });
    expect((await request(opened.listener.port, line, ['Host: localhost', otherOrigin, ...headers])).status).toBe(
      status,
    );
  });

  test.each([
    ['an image of a foreign page', ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'], 403],
    ['an image of a page on another port', ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors'], 403],
    ['a sandboxed page', ['Origin: null'], 403],
    ['a page of an allowed origin', ['Origin: https://app.example.org', 'Sec-Fetch-Site: cross-site'], 200],
    ['an extension', ['Origin: moz-extension://6a3c', 'Sec-Fetch-Site: cross-site'], 200],
    ['an address that was typed', ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate'], 200],
    ['our own page', ['Origin: http://localhost'], 200],
    ['a program', [], 200],
  ])('handles credentials in the address, by %s', async (_name, headers, status) => {
    await using opened = await open({ guard: { ...guard, allowedOrigins: ['https://app.example.org'] } });
    for (const line of ['GET /topic/json?auth=x', 'POST /topic?authorization=x']) {
      const response = await request(opened.listener.port, line, ['Host: localhost', ...headers]);
      expect(response.status).toBe(status);
      if (status === 403) expect(response.text).toContain('listener.foreign_sign_in');
    }
  });

  test('removes cookies of a cross-origin page', async () => {
    await using opened = await open({
      guard,
      handler: { http: (request, response) => void response.end(String(request.headers.cookie)) },
    });
    const { text } = await request(opened.listener.port, 'POST /', [
      'Host: localhost',
      otherOrigin,
      'Authorization: Bearer tk',
      'Cookie: session=1',
    ]);
    expect(text).toMatch(/undefined$/);
  });

  test('passes preflights to the service', async () => {
    await using opened = await open({ guard });
    const { status } = await request(opened.listener.port, 'OPTIONS /', [
      'Host: localhost',
      otherOrigin,
      'Access-Control-Request-Method: PUT',
    ]);
    expect(status).toBe(200);
  });
});

test('accepts every origin, but not every host, under policy any', async () => {
  await using opened = await open({ guard: { crossOrigin: 'any' } });
  expect((await request(opened.listener.port, 'POST /', ['Host: localhost', otherOrigin])).status).toBe(200);
  expect((await request(opened.listener.port, 'POST /', ['Host: evil.example', otherOrigin])).status).toBe(403);
});

describe('WebSocket guard', () => {
  const upgrade = ['Host: localhost', 'Upgrade: websocket', 'Connection: Upgrade'];
  const handler = {
    http: () => undefined,
    upgrade: (_request: unknown, socket: { end(text: string): void }): void =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  };

  test.each([
    ['refuse', 'GET /', [otherOrigin], 403],
    ['refuse', 'GET /', ['Origin: null'], 403],
    ['refuse', 'GET /', ['Origin: http://localhost'], 101],
    ['refuse', 'GET /', [], 101],
    ['refuse', 'GET /', ['Sec-Fetch-Site: cross-site'], 403],
    ['credentialed', 'GET /ws', [otherOrigin], 403],
    ['credentialed', 'GET /ws?auth=x', [otherOrigin, 'Sec-Fetch-Mode: websocket'], 403],
    ['credentialed', 'GET /ws?auth=x', ['Origin: chrome-extension://abc', 'Sec-Fetch-Mode: websocket'], 101],
    ['credentialed', 'GET /ws?auth=x', ['Origin: http://localhost', 'Sec-Fetch-Mode: websocket'], 101],
    ['credentialed', 'GET /ws?auth=x', [], 101],
    ['any', 'GET /ws', [otherOrigin], 101],
  ] as const)('handles under %s: %s %j', async (crossOrigin, line, headers, status) => {
    await using opened = await open({ guard: { crossOrigin }, handler });
    expect((await request(opened.listener.port, line, [...upgrade, ...headers])).status).toBe(status);
  });

  test('refuses in the format of the service', async () => {
    await using opened = await open({
      handler,
      guard: {
        crossOrigin: 'refuse',
        refuse: (_request, response, problem) => void response.writeHead(problem.status).end(`no: ${problem.code}`),
      },
    });
    const { text } = await request(opened.listener.port, 'GET /', [...upgrade, otherOrigin]);
    expect(text).toContain('no: listener.foreign_websocket');
  });
});
