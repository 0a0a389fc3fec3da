import { afterEach, describe, expect, it } from 'vitest';
import { replaceShortCodes } from '../../../services/notify/domain/emoji.ts';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost } from '../../support/host.ts';
import { createProbe, openReceiver } from './support.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

/** Returns the text of `:rocket: done` at each destination, by the end of its path. */
async function receiveTexts(setting: string | undefined): Promise<Readonly<Record<string, string>>> {
  const receiver = open.use(await openReceiver());
  const { descriptor, offers } = createProbe(['inbox', 'push']);
  const environment = setting === undefined ? {} : { APPRISE_INTERPRET_EMOJIS: setting };
  const host = open.use(await openTestHost({ services: [descriptor, notify], environment }));
  const destinationUrl = `json://127.0.0.1:${receiver.port}`;
  const urls = [
    `${destinationUrl}/silent`,
    `${destinationUrl}/yes?emojis=yes`,
    `${destinationUrl}/no?emojis=no`,
    'push://phone?emojis=yes',
  ];
  await fetch(`${host.url('notify')}/add/k`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls }),
  });
  await fetch(`${host.url('notify')}/notify/k`, {
    method: 'POST',
    body: new URLSearchParams({ body: ':Rocket: done :nosuch: 12:30:45' }),
  });
  const received = receiver.received.map(({ path, body }) => [
    path.slice(1),
    (JSON.parse(body) as { message: string }).message,
  ]);
  return { ...Object.fromEntries(received), push: [...offers.push.values()][0]?.message } as Readonly<
    Record<string, string>
  >;
}

const [picture, name] = ['🚀 done :nosuch: 12:30:45', ':Rocket: done :nosuch: 12:30:45'];

describe('a short code of an emoji', () => {
  it.each([
    [undefined, { silent: name, yes: picture, no: name, push: picture }],
    ['yes', { silent: picture, yes: picture, no: name, push: picture }],
    ['no', { silent: name, yes: name, no: name, push: name }],
  ])('is converted as the URL and the setting %s require', async (setting, expected) => {
    expect(await receiveTexts(setting)).toEqual(expected);
  });
});

describe('a text with short codes', () => {
  it.each([
    ['of many kinds', ':mushroom: :+1: :de: :man_health_worker:', '🍄 👍 🇩🇪 👨‍⚕️'],
    ['side by side', ':fire::fire:', '🔥🔥'],
    ['behind a word that is none', 'a:nosuch:rocket: b', 'a:nosuch🚀 b'],
    ['that objects inherit', ':constructor: :__proto__: :toString:', ':constructor: :__proto__: :toString:'],
    ['without their ends', 'rocket: :rocket', 'rocket: :rocket'],
    ['and nothing else', ':ROCKET:', '🚀'],
  ])('converts %s', (_case, text, expected) => {
    expect(replaceShortCodes(text)).toBe(expected);
  });
});
