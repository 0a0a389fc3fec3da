import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Receiver } from './support.ts';

let host: TestHost;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await openReceiver();
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, notify] });
  const urls = `json://127.0.0.1:${String(receiver.port)}/text`;
  await fetch(`${host.url('notify')}/add/hooks`, { method: 'POST', body: new URLSearchParams({ urls }) });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function notifyWith(payload: unknown, query = ''): Promise<{ title: string; message: string; type: string }> {
  const reply = await fetch(`${host.url('notify')}/notify/hooks${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  expect(reply.status).toBe(200);
  return JSON.parse(receiver.received.at(-1)?.body ?? '') as { title: string; message: string; type: string };
}
/** Payload and the resulting body. */
type Case = readonly [name: string, payload: unknown, body: string];

const slack: readonly Case[] = [
  ['a link with words', { text: 'See <https://e.x/a?b=1&amp;c=2|the run>.' }, 'See the run (https://e.x/a?b=1&c=2).'],
  [
    'marks and entities',
    { channel: '#ops', text: '*Disk* _almost_ ~not~ full &lt;95 &amp; rising&gt;: `df -h`' },
    'Disk almost not full <95 & rising>: df -h',
  ],
  ['bare links', { username: 'ci', text: '<https://e.x/>, <mailto:a@e.x|a@e.x>' }, 'https://e.x/, a@e.x'],
  [
    'who is called',
    {
      username: 'ci',
      text: '<!here> <@U024BE7LH|ada> in <#C024BE7LR|general> since <!date^1392734382^{date}|Tuesday>',
    },
    '@here @ada in #general since Tuesday',
  ],
  [
    'what only looks like marks',
    { channel: 'x', text: '2 * 3 * 4, snake_case_name, a~b~c, 1 < 2' },
    '2 * 3 * 4, snake_case_name, a~b~c, 1 < 2',
  ],
  ['a block of code', { channel: 'x', text: 'Failed:\n```a *b* &lt;c&gt;\nd```\nend' }, 'Failed:\na *b* <c>\nd\nend'],
  ['pictures by name, and none in a time', { channel: 'x', text: ':rotating_light: at 10:100:20' }, '🚨 at 10:100:20'],
  [
    'the Markdown of Mattermost',
    { username: 'ci', text: '**Build** [#7](https://e.x/7) *failed*' },
    'Build #7 (https://e.x/7) failed',
  ],
  [
    'attachments',
    {
      attachments: [
        {
          title: 'Job',
          title_link: 'https://e.x/j',
          pretext: '*Nightly*',
          color: 'danger',
          fields: [{ title: 'Log', value: '<https://e.x/l|here>' }],
        },
      ],
    },
    'Nightly\nLog: here (https://e.x/l)\nMore: https://e.x/j',
  ],
  [
    'blocks',
    {
      text: 'only where blocks cannot be shown',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Backup' } },
        { type: 'section', text: { type: 'mrkdwn', text: '*nas* took <https://e.x/1|run 1>' } },
        { type: 'divider' },
        { type: 'section', fields: [{ type: 'mrkdwn', text: '*Size*\n5 GB' }] },
        {
          type: 'context',
          elements: [
            { type: 'image', alt_text: 'x' },
            { type: 'mrkdwn', text: '_by_ cron' },
          ],
        },
        {
          type: 'actions',
          elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url: 'https://e.x/o' }],
        },
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                { type: 'text', text: 'Done\nsee ' },
                { type: 'link', url: 'https://e.x/s', text: 'this' },
              ],
            },
            {
              type: 'rich_text_list',
              elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'one' }] }],
            },
          ],
        },
      ],
    },
    'nas took run 1 (https://e.x/1)\nSize 5 GB\nby cron\nOpen: https://e.x/o\nDone\nsee this (https://e.x/s)\n- one',
  ],
];

const discord: readonly Case[] = [
  [
    'marks',
    { content: '**Backup** of __nas__ ~~failed~~ *well* ||done||: `ok`' },
    'Backup of nas failed well done: ok',
  ],
  ['links', { content: '**[Run 7](https://e.x/7_(a))** <https://e.x/8>' }, 'Run 7 (https://e.x/7_(a)) https://e.x/8'],
  [
    'headings, quotes, code',
    { username: 'bot', content: '# Report\n> all *fine*\n-# small\n```sh\nrm **x**\n```' },
    'Report\n> all fine\nsmall\nrm **x**',
  ],
  [
    'what stands in angle brackets',
    { username: 'bot', content: '<@!80351> <@&16> <#1037> <:sad:1040> <t:1618953630:R>' },
    '@80351 @16 #1037 :sad: 2021-04-20 21:20 UTC',
  ],
  [
    'escapes and lookalikes',
    { username: 'bot', content: '\\*no\\* 2 ** 3 ** 4 snake_case_name **open' },
    '*no* 2 ** 3 ** 4 snake_case_name **open',
  ],
  [
    'embeds',
    {
      content: '',
      embeds: [{ title: '**T**', description: 'See [it](https://e.x)', fields: [{ name: '__A__', value: '**b**' }] }],
    },
    'See it (https://e.x)\nA: b',
  ],
];

describe('a Slack payload', () => {
  it.each(slack)('is converted: %s', async (_name, payload, body) => {
    expect((await notifyWith(payload)).message).toBe(body);
  });

  it('has the heading of its blocks or attachments as its title', async () => {
    expect(await notifyWith(slack.find(([name]) => name === 'blocks')?.[1])).toMatchObject({ title: 'Backup' });
    expect(await notifyWith(slack.find(([name]) => name === 'attachments')?.[1])).toMatchObject({
      title: 'Job',
      type: 'failure',
    });
  });

  it('keeps links and bold text as Markdown', async () => {
    const { message } = await notifyWith(
      { text: '*Bold* <https://e.x/(a)|[w]> <https://e.x>', channel: 'x' },
      '?format=markdown',
    );
    expect(message).toBe('**Bold** [\\[w\\]](https://e.x/%28a%29) <https://e.x>');
  });
});

describe('a client that expects Slack', () => {
  const post = async (payload: unknown, headers: Record<string, string> = {}, query = ''): Promise<Response> =>
    fetch(`${host.url('notify')}/notify/hooks${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(payload),
    });
  const payload = { channel: '#ops', attachments: [{ text: 'x' }] };

  it('receives the response of Slack', async () => {
    const reply = await post(payload);
    expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([200, 'text/plain', 'ok']);
    const inJson = await post(payload, { accept: 'application/json' });
    expect(await inJson.json()).toMatchObject({
      ok: true,
      error: null,
      details: [['INFO', expect.any(String), expect.any(String)]],
    });
  });

  it('receives failures like other clients, which receive the usual responses', async () => {
    const failed = await post(payload, {}, '?tag=nobody');
    expect([failed.status, await failed.json()]).toMatchObject([424, { error: expect.any(String) }]);
    expect(await (await post({ text: 'x' })).json()).toMatchObject({ error: null });
  });
});

describe('a Discord payload', () => {
  it.each(discord)('reads well: %s', async (_name, payload, body) => {
    expect((await notifyWith(payload)).message).toBe(body);
  });

  it('has a title without markup', async () => {
    expect(await notifyWith(discord.find(([name]) => name === 'embeds')?.[1])).toMatchObject({ title: 'T' });
  });
});

describe('a text without markup of either', () => {
  it.each([
    [{ message: '**x** <https://e.x|y>' }, '**x** <https://e.x|y>'],
    [{ text: '*a* <b> &amp;' }, '*a* <b> &amp;'],
    [{ content: 'a * b * c' }, 'a * b * c'],
  ])('is unchanged: %j', async (payload, body) => {
    expect((await notifyWith(payload)).message).toBe(body);
  });

  it('parses adversarial text in linear time', async () => {
    const startedAt = performance.now();
    for (const markup of [
      '**a ',
      '[x](http://(',
      '<a',
      '__a ',
      '*a',
      '||a ',
      '_a ',
      '`',
      '<https://a|',
      '[[',
      '~~a ',
      '~a ',
    ]) {
      await notifyWith({ content: `**x** ${markup.repeat(50_000)}` });
      await notifyWith({ channel: 'x', text: markup.repeat(50_000) });
    }
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});
