import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openRig, sendRaw, type Rig } from './rig.ts';

/** Requests of other programs, byte by byte except for host and credentials. */
let rig: Rig;
let token: string;
const basicAuthorization = `Basic ${Buffer.from('apps:secret word').toString('base64')}`;
beforeAll(async () => {
  rig = await openRig();
  const grants = [{ service: 'push', resource: '*', permission: 'read-write' }] as const;
  await rig.context.accounts.create({ name: 'apps', password: 'secret word', grants });
  token = (await rig.context.accounts.createToken('apps', { label: '', expiresAt: null })).text;
});
afterAll(() => rig[Symbol.asyncDispose]());

/** `head` is the part between the request line and the generated lengths. */
async function send(
  line: string,
  head: readonly string[],
  body: string | Buffer = '',
): Promise<{ status: number; json: any }> {
  const bytes = Buffer.from(body);
  const lines = [`${line} HTTP/1.1`, `Host: 127.0.0.1:${String(rig.port)}`, ...head, 'Connection: close'];
  const length = bytes.length === 0 ? [] : [`Content-Length: ${String(bytes.length)}`];
  const text = await sendRaw(rig.port, Buffer.concat([Buffer.from([...lines, ...length, '', ''].join('\r\n')), bytes]));
  const headEnd = text.indexOf('\r\n\r\n');
  return { status: Number(text.split(' ')[1]), json: JSON.parse(text.slice(headEnd + 4) || 'null') };
}

const appriseHead = (...overrides: string[]): string[] => [
  'User-Agent: Apprise',
  'Accept-Encoding: gzip, deflate',
  'Accept: */*',
  ...overrides,
  `Authorization: ${basicAuthorization}`,
];
const appriseIcon =
  'X-Icon: https://github.com/caronc/apprise/raw/master/apprise/assets/themes/default/apprise-info-256x256.png';

it('accepts JSON with other fields in headers from Apprise', async () => {
  const { status, json } = await send(
    'POST /',
    appriseHead(
      'Content-Type: application/json',
      appriseIcon,
      'X-Priority: high',
      'X-Click: https://x.example/',
      'X-Tags: disk,warning',
      'X-Actions: view, Open, https://x.example',
      'X-Markdown: yes',
    ),
    '{"topic": "apps", "title": "\\u00dcberschrift", "message": "Zeile eins\\nZeile zwei \\ud83d\\ude00"}',
  );
  expect(status).toBe(200);
  expect(json).toMatchObject({
    topic: 'apps',
    title: 'Überschrift',
    message: 'Zeile eins\nZeile zwei 😀',
    priority: 4,
    tags: ['disk', 'warning'],
    click: 'https://x.example/',
    icon: appriseIcon.slice('X-Icon: '.length),
    actions: [{ action: 'view', label: 'Open', url: 'https://x.example', clear: false }],
    content_type: 'text/markdown',
  });
});

it('accepts a file body with text in the query and a delay from Apprise', async () => {
  const head = appriseHead(appriseIcon, 'X-Delay: 1h');
  const first = await send('POST /apps?filename=note.txt&title=T&message=B', head, 'hello file\n');
  expect(first.json).toMatchObject({ title: 'T', message: 'B', attachment: { name: 'note.txt', size: 11 } });
  const second = await send('POST /apps?filename=pic.png', head, Buffer.from('89504e470d0a1a0a', 'hex'));
  expect(second.json).toMatchObject({ message: 'You received a file: pic.png', attachment: { name: 'pic.png' } });
});

it("reports errors with ntfy's code and text to Apprise", async () => {
  const wrong = appriseHead('Content-Type: application/json').map((line) =>
    line.startsWith('Authorization') ? 'Authorization: Basic YXBwczpubw==' : line,
  );
  expect(await send('POST /', wrong, '{"topic": "apps", "message": "m"}')).toMatchObject({
    status: 401,
    json: { code: 40101, error: 'unauthorized' },
  });
});

it('accepts JSON with a numeric priority, password or token from Uptime Kuma', async () => {
  const body = {
    topic: 'apps',
    message: 'connect ECONNREFUSED 10.0.0.1:80',
    priority: 5,
    title: 'Web [Down]',
    tags: ['red_circle'],
    actions: [{ action: 'view', label: 'Open Web', url: 'https://web.example' }],
    icon: 'https://web.example/favicon.png',
  };
  for (const authorization of [basicAuthorization, `Bearer ${token}`]) {
    const head = [
      'Accept: application/json, text/plain, */*',
      'Content-Type: application/json',
      `Authorization: ${authorization}`,
      'User-Agent: Uptime-Kuma/2.0.2',
      'Accept-Encoding: gzip, compress, deflate, br',
    ];
    const { status, json } = await send('POST /', head, JSON.stringify(body));
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...body, actions: [{ ...body.actions[0], clear: false }] });
  }
});

it('supports Home Assistant: reads the account, creates a token, publishes, clears, deletes and subscribes', async () => {
  const agent = ['User-Agent: HomeAssistant/2026.1 aiohttp/3.13', 'Accept: application/json'];
  const head = [...agent, 'Accept-Encoding: gzip, deflate', `Authorization: Bearer ${token}`];
  expect((await send('GET /v1/health', head)).json).toEqual({ healthy: true });
  expect((await send('GET /v1/stats', head)).json).toEqual({
    messages: expect.any(Number),
    messages_rate: expect.any(Number),
  });
  expect((await send('GET /v1/account', head)).json).toMatchObject({
    username: 'apps',
    role: 'user',
    limits: { basis: 'ip', messages: expect.any(Number), attachment_file_size: expect.any(Number) },
    stats: { messages: expect.any(Number), messages_remaining: expect.any(Number) },
  });
  // Only administrators may read it, and the integration works without it.
  expect((await send('GET /v1/version', head)).status).toBe(401);
  const typed = ['Content-Type: application/json'];
  const created = await send(
    'POST /v1/account/token',
    [...agent, ...typed, `Authorization: ${basicAuthorization}`],
    '{"label": "Home Assistant"}',
  );
  expect(created.json).toMatchObject({ token: expect.stringMatching(/^tk_[a-z0-9]{29}$/), label: 'Home Assistant' });
  const tokenArguments = [...agent, ...typed, `Authorization: Bearer ${String(created.json.token)}`];

  const socket = new WebSocket(`ws://127.0.0.1:${String(rig.port)}/assist/ws`, {
    headers: { authorization: `Bearer ${String(created.json.token)}` },
  });
  const received: any[] = [];
  socket.on('message', (data) => received.push(JSON.parse((data as Buffer).toString())));
  await expect.poll(() => received.length).toBe(1);
  const order =
    '{"topic":"assist","message":"The door is open","title":"Door","tags":["door"],"priority":4,"markdown":false,"sequence_id":"door-1"}';
  const { json } = await send('POST /', tokenArguments, order);
  expect((await send('PUT /assist/door-1/clear', tokenArguments)).json).toMatchObject({ event: 'message_clear' });
  expect((await send('DELETE /assist/door-1', tokenArguments)).json).toMatchObject({ event: 'message_delete' });
  await expect
    .poll(() => received.map(({ event, sequence_id }) => [event, sequence_id]))
    .toEqual([
      ['open', undefined],
      ['message', 'door-1'],
      ['message_clear', 'door-1'],
      ['message_delete', 'door-1'],
    ]);
  expect(received[1]).toEqual(json);
  expect(received[1]).not.toHaveProperty('content_type');
  expect((await send('DELETE /v1/account/token', tokenArguments)).json).toEqual({ success: true });
  // Deleting the token ends its stream.
  await expect.poll(() => socket.readyState).toBe(WebSocket.CLOSED);
});

it.each([
  ['grafana', '75_template_grafana', 'User-Agent: Grafana'],
  ['alertmanager', '76_template_alertmanager', 'User-Agent: Alertmanager/0.29.0'],
])('renders the webhook of %s with credentials in a header or in the URL', async (name, file, agent) => {
  const golden = JSON.parse(readFileSync(new URL(`golden/${file}.json`, import.meta.url), 'utf8'));
  const { title, message } = golden.response.body;
  const head = [agent, 'Content-Type: application/json', 'Accept-Encoding: gzip'];
  const auth = Buffer.from(basicAuthorization).toString('base64url');
  for (const [query, overrides] of [
    ['', [`Authorization: ${basicAuthorization}`]],
    [`&auth=${auth}`, []],
  ] as const) {
    const response = await send(`POST /apps?template=${name}${query}`, [...head, ...overrides], golden.request.body);
    expect(response).toMatchObject({ status: 200, json: { title, message } });
  }
});

it.each([
  // shoutrrr, as used by Watchtower
  ['POST /apps', ['Title: Watchtower', 'Priority: 3', 'Tags: whale', 'Cache: yes', 'Firebase: yes'], 'Found new image'],
  // Sonarr and similar programs
  [
    'POST /',
    ['Content-Type: application/json', 'X-Title: Sonarr', 'X-Priority: 3'],
    '{"topic":"apps","message":"Grabbed"}',
  ],
  // Gatus
  [
    'POST /',
    ['Content-Type: application/json'],
    '{"topic":"apps","title":"Gatus: site","message":"An alert","tags":["rotating_light"],"priority":1,"click":"https://x"}',
  ],
  // curl -d, and a browser form
  ['POST /apps', ['Content-Type: application/x-www-form-urlencoded', 'Accept: */*'], 'Backup successful 😀'],
  ['GET /apps/trigger?message=Webhook+fired&priority=high', [], ''],
  ['PUT /apps?m=from+a+phone&t=T&p=4&ta=a', [], ''],
])('accepts the request %s of other programs', async (line, head, body) => {
  const { status, json } = await send(line, [...head, `Authorization: ${basicAuthorization}`], body);
  expect(status).toBe(200);
  expect(json).toMatchObject({ topic: 'apps', event: 'message' });
});
