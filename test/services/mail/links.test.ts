import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { submit } from './support.ts';

let host: TestHost;
let offers: Offers;

beforeAll(async () => {
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  const recipients = [
    { address: 'direct', to: 'push://door' },
    { address: 'around', to: 'notify://aggregator' },
    { address: 'worded', to: 'inbox://', format: 'text' },
  ];
  host = await openTestHost({
    services: [probe.descriptor, notify, mail, control],
  });
  await api(host.url('control'), '/api/settings/mail', { method: 'PATCH', body: JSON.stringify({ recipients }) });
});
afterAll(() => host[Symbol.asyncDispose]());

async function publishHtml(html: string, recipient: string, from: ReadonlyMap<string, unknown>): Promise<string> {
  const before = from.size;
  const source = `From: shop@example.com\r\nSubject: Parcel\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`;
  // The gateway restarts with its settings.
  await vi.waitFor(async () =>
    expect(await submit(host.port('mail'), [`${recipient}@home`], source)).toMatch(/^250 2\.0\.0/),
  );
  await vi.waitFor(() => expect(from.size).toBe(before + 1));
  const last = [...from.values()].at(-1) as { readonly message?: string; readonly body?: string };
  return last.message ?? last.body ?? '';
}

it.each(['direct', 'around'])('contains the URLs of links of an HTML mail in a push message (%s)', async (way) => {
  const html = `<p>Your parcel is late. <a class="x" href="https://e.x/t?id=1&amp;k=2">Track it</a>, or ask
    <a href='mailto:help@e.x'>us</a>.</p><a href=https://e.x/>https://e.x</a>`;
  const text = 'Your parcel is late. Track it (https://e.x/t?id=1&k=2), or ask us (help@e.x).\nhttps://e.x';
  expect(await publishHtml(html, way, offers.push)).toBe(text);
});

it.each([
  [
    'words in a block of their own',
    '<a href="https://e.x/a"><div>Open</div></a><p>Bye</p>',
    'Open (https://e.x/a)\nBye',
  ],
  ['a picture with words', '<a href="https://e.x/a"><img src="cid:1" alt="Open it"></a>', 'Open it (https://e.x/a)'],
  ['a picture without', '<p>Look</p><a href="https://e.x/a"><img src="cid:1"></a>', 'Look\nhttps://e.x/a'],
  [
    'a picture that leads where words led',
    '<a href="https://e.x/a">Open</a> <a href="https://e.x/a"><img src="cid:1"></a>',
    'Open (https://e.x/a)',
  ],
  ['a list', '<ul><li><a href="https://e.x/1">One</a></li></ul>', '- One (https://e.x/1)'],
  [
    'a link that nobody ends',
    '<a href="https://e.x/1">One <a href="https://e.x/2">two',
    'One (https://e.x/1) two (https://e.x/2)',
  ],
  [
    'links that lead nowhere',
    '<a href="#top">Up</a> <a href="javascript:x()">Run</a> <a name="y">Here</a>',
    'Up Run Here',
  ],
])('processes a mail with %s', async (_name, html, text) => {
  expect(await publishHtml(html, 'direct', offers.push)).toBe(text);
});

it('contains the URLs for a recipient with plain text', async () => {
  expect(await publishHtml('<b>New</b> <a href="https://e.x/n">release</a>', 'worded', offers.inbox)).toBe(
    'New release (https://e.x/n)',
  );
});
