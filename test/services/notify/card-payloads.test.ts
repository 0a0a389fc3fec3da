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

async function deliver(payload: unknown): Promise<readonly string[]> {
  const reply = await fetch(`${host.url('notify')}/notify/hooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
  const { type, title, message } = JSON.parse(receiver.received.at(-1)?.body ?? '') as Record<string, string>;
  return [type ?? '', title ?? '', message ?? ''];
}

const adaptive = (content: object): object => {
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return {
    type: 'message',
    attachments: [{ contentType, content: { type: 'AdaptiveCard', version: '1.4', ...content } }],
  };
};

describe('cards for other chats', () => {
  it.each<[string, unknown, readonly string[]]>([
    [
      'a message card',
      {
        ...{ '@type': 'MessageCard', '@context': 'http://schema.org/extensions', themeColor: 'D63232', title: 'CPU' },
        text: 'It is high.',
        sections: [{ activityTitle: 'nas', facts: [{ name: 'Load', value: '9.3' }], text: 'since noon' }],
        potentialAction: [{ '@type': 'OpenUri', targets: [{ os: 'default', uri: 'https://e.x/a' }] }],
      },
      ['failure', 'CPU', 'It is high.\nnas\nsince noon\nLoad: 9.3'],
    ],
    [
      'a message card with a summary only',
      { '@type': 'MessageCard', summary: 'Done', themeColor: '2DC72D', text: 'ok' },
      ['success', 'Done', 'ok'],
    ],
    [
      'an adaptive card',
      adaptive({
        body: [
          { type: 'TextBlock', text: 'Backup', weight: 'bolder', color: 'attention' },
          { type: 'Container', items: [{ type: 'TextBlock', text: 'It failed.' }] },
          { type: 'ColumnSet', columns: [{ type: 'Column', items: [{ type: 'TextBlock', text: 'left' }] }] },
          {
            type: 'RichTextBlock',
            inlines: [
              { type: 'TextRun', text: 'rich ' },
              { type: 'TextRun', text: 'text' },
            ],
          },
          { type: 'FactSet', facts: [{ title: 'Host', value: 'nas' }] },
        ],
        actions: [{ type: 'Action.OpenUrl', title: 'Open', url: 'https://e.x/a' }],
      }),
      ['failure', 'Backup', 'It failed.\nleft\nrich text\nHost: nas'],
    ],
    ['an adaptive card with one text', adaptive({ body: [{ type: 'TextBlock', text: 'only' }] }), ['info', '', 'only']],
    [
      'a card of Google Chat',
      {
        cardsV2: [
          {
            card: {
              header: { title: 'Deploy', subtitle: 'web' },
              sections: [
                {
                  header: 'Result',
                  widgets: [
                    { textParagraph: { text: 'It is <b>done</b>.' } },
                    { decoratedText: { topLabel: 'Time', text: '3 s' } },
                  ],
                },
              ],
            },
          },
        ],
      },
      ['info', 'Deploy', 'web\nResult\nIt is done.\nTime: 3 s'],
    ],
    ['a text for DingTalk', { msgtype: 'text', text: { content: 'disk full' } }, ['info', '', 'disk full']],
    [
      'Markdown for DingTalk',
      { msgtype: 'markdown', markdown: { title: 'Disk', text: 'full' } },
      ['info', 'Disk', 'full'],
    ],
    ['Markdown for WeCom', { msgtype: 'markdown', markdown: { content: 'full' } }, ['info', '', 'full']],
    ['a text for Feishu', { msg_type: 'text', content: { text: 'full' } }, ['info', '', 'full']],
    [
      'a rich text for Feishu',
      { msg_type: 'post', content: { post: { zh_cn: { title: 'Disk', content: [[{ tag: 'text', text: 'full' }]] } } } },
      ['info', 'Disk', 'full'],
    ],
    [
      'a card for Feishu',
      {
        msg_type: 'interactive',
        card: {
          header: { title: { content: 'Disk' }, template: 'red' },
          elements: [{ tag: 'div', text: { content: 'full' } }],
        },
      },
      ['failure', 'Disk', 'full'],
    ],
  ])('reads %s', async (_name, payload, expected) => {
    expect(await deliver(payload)).toEqual(expected);
  });

  it('limits the depth of a card', async () => {
    let nested: object = { type: 'TextBlock', text: 'deep' };
    for (let depth = 0; depth < 10; depth += 1) nested = { type: 'Container', items: [nested] };
    const body = [{ type: 'TextBlock', text: 'seen' }, nested];
    expect(await deliver(adaptive({ body }))).toEqual(['info', '', 'seen']);
  });

  it('ignores elements of a rich text that are no text', async () => {
    const line = [{ text: { toString: 1 } }, { text: ['a'] }, 'b', null, { text: 'full' }];
    expect(
      await deliver({ msg_type: 'post', content: { post: { zh_cn: { title: 'Disk', content: [line] } } } }),
    ).toEqual(['info', 'Disk', 'full']);
  });

  it.each(['constructor', '__proto__'])('reads the style and the header color %s as unknown', async (name) => {
    const body = [{ type: 'TextBlock', text: 'full', color: name, style: name }];
    expect(await deliver(adaptive({ body }))).toEqual(['info', '', 'full']);
    const card = { header: { title: { content: 'Disk' }, template: name }, elements: [{ content: 'full' }] };
    expect(await deliver({ msg_type: 'interactive', card })).toEqual(['info', 'Disk', 'full']);
  });

  it('does not recognize other messages as cards', async () => {
    expect(await deliver({ msgtype: 'm.text', body: 'a message of Matrix' })).toEqual([
      'info',
      '',
      'a message of Matrix',
    ]);
    expect(await deliver({ cards: 'none', message: 'own' })).toEqual(['info', '', 'own']);
  });
});
