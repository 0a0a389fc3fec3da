import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers } from './provider-responses.ts';
import { openProvider, sendTo, type Provider } from './provider-server.ts';

let provider: Provider;
beforeAll(async () => {
  provider = await openProvider();
});
beforeEach(() => {
  provider.requests.length = 0;
});
afterAll(() => provider[Symbol.asyncDispose]());

async function sent(url: string, fields: Parameters<typeof sendTo>[1]) {
  expect((await sendTo(url, fields, provider.outlets)).every(({ ok }) => ok)).toBe(true);
  return provider.requests.map(({ method, url: address, headers, body }) => ({
    ...{ method, address, headers, body: JSON.parse(body.toString()) as unknown },
  }));
}

/** Requests by the documentation of the services, without recordings. */
describe('requests to services without recordings', () => {
  it('sends to a Teams connector', async () => {
    const requests = await sent('msteams://team/a@b/c/d/e', { title: 'T <b>', body: '**B**', type: 'failure' });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        address: 'https://team.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d/e',
        headers: { 'content-type': 'application/json' },
        body: {
          '@type': 'MessageCard',
          '@context': 'https://schema.org/extensions',
          summary: 'T <b>',
          themeColor: '#A32037',
          sections: [{ activityTitle: 'T <b>', text: '**B**' }],
        },
      },
    ]);
  });

  it('removes characters that XML cannot represent', async () => {
    await sendTo('xml://host/', { title: '<"&', body: 'a\u0000b\ufffec\u0001d\n🎉' }, provider.outlets);
    const xml = provider.requests[0]?.body.toString();
    expect(xml).toContain('<Subject>&lt;&quot;&amp;</Subject><Message>abcd\n🎉</Message>');
  });

  it('sends through Postmark', async () => {
    const file = { name: 'a.txt', type: 'text/plain', size: 1, read: () => Promise.resolve(Buffer.from('x')) };
    const url = 'postmark://key:nas@example.com/ada@example.com/bob@example.com?cc=c@example.com';
    const requests = await sent(url, { title: 'T', body: 'a < b', attachments: [file] });
    const mail = {
      ...{
        From: 'nas@example.com',
        Cc: 'c@example.com',
        Subject: 'T',
        HtmlBody: 'a &lt; b',
        MessageStream: 'outbound',
      },
      Attachments: [{ Name: 'a.txt', Content: 'eA==', ContentType: 'text/plain' }],
    };
    expect(requests).toMatchObject([
      { address: 'https://api.postmarkapp.com/email', body: { ...mail, To: 'ada@example.com' } },
      { headers: { 'x-postmark-server-token': 'key' }, body: { ...mail, To: 'bob@example.com' } },
    ]);
  });

  it('escapes the title for a Matrix bridge', async () => {
    const url = 'matrix://name:token@host/?mode=matrix&format=markdown';
    const [request] = await sent(url, { title: '<b>T</b>', body: '**B**', format: 'markdown' });
    expect(request?.body).toMatchObject({
      format: 'html',
      text: '&lt;b&gt;T&lt;/b&gt;<br/><p><strong>B</strong></p>',
    });
  });
});

describe('a message with files only', () => {
  const files = ['a.png', 'b.txt'].map((name) => ({
    ...{ name, type: 'image/png', size: 1, read: () => Promise.resolve(Buffer.from('x')) },
  }));

  it.each([
    ['slack://xoxb-1/#c', 'attachments.0.text'],
    ['mmost://host/hook', 'text'],
    ['line://token/user', 'messages.0.text'],
    ['sendgrid://key:nas@example.com', 'content.0.value'],
    ['gotify://host/token', 'message'],
  ])('contains their names when text is required: %s', async (url, path) => {
    provider.answer = answers;
    await sendTo(url, { attachments: files }, provider.outlets);
    const sentBody: unknown = JSON.parse(provider.requests[0]?.body.toString() ?? '');
    expect(path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], sentBody)).toBe(
      'a.png, b.txt',
    );
  });

  it.each(['discord://1/t', 'tgram://1:abc/5', 'json://host'])('contains only files otherwise: %s', async (url) => {
    provider.answer = answers;
    await sendTo(url, { attachments: files }, provider.outlets);
    expect(provider.requests.length).toBeGreaterThan(0);
    expect(provider.requests.map(({ body }) => body.toString()).join()).not.toContain('a.png, b.txt');
  });
});

describe('the link of a message', () => {
  const link = 'https://git.example/o/r/compare/a...b?x=1&y=2';
  const sentWith = async (url: string, fields: Parameters<typeof sendTo>[1]): Promise<string> => {
    provider.answer = answers;
    await sendTo(url, { title: 'T', body: 'B', link, ...fields }, provider.outlets);
    return provider.requests.map(({ url: address, body }) => `${address} ${body.toString()}`).join('\n');
  };

  it.each([
    ['ntfy://host/topic', `"click":"${link}"`],
    ['gotify://host/token', `"client::notification":{"click":{"url":"${link}"}}`],
    ['slack://T/B/C', `"title_link":"${link}"`],
    ['bark://host/key', `"url":"${link}"`],
    ['psafer://key', `u=${encodeURIComponent(link)}`],
    ['tgram://1:abc/5', 'B\\r\\n\\r\\nhttps://git.example/o/r/compare/a...b?x=1&amp;y=2'],
    ['discord://1/t', `B\\n\\n${link}`],
    ['mmost://host/hook', `B\\n\\n${link}`],
    ['apprise://host/key?method=json', `B\\n\\n${link}`],
  ])('is sent to the reader: %s', async (url, expected) => {
    expect(await sentWith(url, {})).toContain(expected);
  });

  it('is sent once, but not for addresses of this computer or to programs', async () => {
    expect(await sentWith('mmost://host/hook', { body: `see ${link}` })).toContain(`"text":"T\\r\\nsee ${link}"`);
    provider.requests.length = 0;
    expect(await sentWith('mmost://host/hook', { link: 'http://127.0.0.1:8088/downloads' })).not.toContain('127.0.0.1');
    provider.requests.length = 0;
    expect(await sentWith('json://host', {})).not.toContain(link);
  });

  it('is a link in HTML', async () => {
    const html = await sentWith('discord://1/t?format=markdown', { body: '<p>B</p>', format: 'html' });
    expect(html).toContain(`](<${link}>)`);
  });
});
