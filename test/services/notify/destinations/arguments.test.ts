import { describe, expect, it } from 'vitest';
import { parseDestination } from '../../../../services/notify/destinations/catalogue.ts';
import { openProvider, parsed, sendTo } from './provider-server.ts';

/** Sends one message and returns the request that the provider received. */
async function getRequest(url: string, format: 'text' | 'markdown' = 'text') {
  await using provider = await openProvider();
  const message = { title: 'T', body: 'B', type: 'info', format } as const;
  expect(await sendTo(url, message, provider.outlets)).toMatchObject([{ ok: true }]);
  const [request] = provider.requests;
  if (request === undefined) throw new Error('nothing was sent');
  const text = request.body.toString();
  const fields = text.startsWith('{') ? (JSON.parse(text) as object) : Object.fromEntries(new URLSearchParams(text));
  return { url: request.url, headers: request.headers, fields };
}

const hook = 'a'.repeat(26);

describe('an argument of an address', () => {
  it.each([
    ['gchat://?workspace=ws&key=k&token=t', 'gchat://ws/k/t'],
    ['gchat://ws/k/t?thread=disk', 'gchat://ws/k/t/disk'],
    ['gchat://ws/k/t?threadKey=disk', 'gchat://ws/k/t/disk'],
    ['twilio://_/15555551235?sid=ACx&token=secret&from=15555551234', 'twilio://ACx:secret@15555551234/15555551235'],
    ['twilio://ACx:secret@_/15555551235?source=15555551234', 'twilio://ACx:secret@15555551234/15555551235'],
    ['signal://host:8080/+15555551235?from=%2B15555551234', 'signal://host:8080/+15555551234/+15555551235'],
    [`mmost://host/${hook}?channel=ops&botname=nas`, `mmost://nas@host/${hook}?to=%23ops`],
    ['mastodon://host?token=tok', 'mastodon://tok@host'],
    ['wxteams://_?token=tok', 'wxteams://tok'],
    ['discord://1/t?url=https://e.example/', 'discord://1/t?href=https://e.example/'],
  ])('replaces a part of it: %s', (url, standardUrl) => {
    const destination = parsed(url);
    expect(destination.url(false)).toBe(parsed(standardUrl).url(false));
    expect(destination.ignored).toBeUndefined();
  });

  it('changes messages for Discord', async () => {
    const query = 'avatar_url=https://e.example/a.png&href=https://e.example/run&footer=yes';
    expect((await getRequest(`discord://1/t?${query}&format=markdown`, 'markdown')).fields).toMatchObject({
      avatar_url: 'https://e.example/a.png',
      embeds: [{ title: 'T', url: 'https://e.example/run', footer: expect.anything() as object }],
    });
    expect((await getRequest('discord://1/t')).fields).not.toHaveProperty('avatar_url');
  });

  it('changes messages for Mattermost and Mastodon', async () => {
    const mattermost = await getRequest(`mmost://host/${hook}?botname=nas&icon_url=https://e.example/a.png`);
    expect(mattermost.fields).toMatchObject({ username: 'nas', icon_url: 'https://e.example/a.png' });
    const mastodon = await getRequest('mastodon://tok@host?sensitive=yes&language=de');
    expect(mastodon.fields).toMatchObject({ sensitive: true, language: 'de' });
  });

  it.each([
    ['sendgrid', { from: { email: 'nas@x.org', name: 'NAS "1"' }, reply_to_list: [{ email: 'me@x.org' }] }],
    ['resend', { from: '"NAS  1 " <nas@x.org>', reply_to: ['me@x.org'] }],
    ['postmark', { From: '"NAS  1 " <nas@x.org>', ReplyTo: 'me@x.org' }],
  ])('sets the sender and the reply address of %s', async (scheme, expected) => {
    const url = `${scheme}://key:nas@x.org/to@x.org?name=NAS%20%221%22&reply=me@x.org`;
    expect((await getRequest(url)).fields).toMatchObject(expected);
  });

  it.each([
    ['discord://1/t?fields=yes', ['fields']],
    [`mmost://host/${hook}?team=x`, ['team']],
    ['twilio://ACx:secret@15555551234?method=call', ['method']],
  ])('is reported when it has no effect: %s', (url, ignored) => {
    const destination = parseDestination(url);
    expect(destination).toMatchObject({ ignored });
  });
});
