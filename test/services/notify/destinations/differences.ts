import type { Comparable } from './compare.ts';

type Change = (requests: readonly Comparable[], name?: string) => readonly Comparable[];

/** Where a kind differs from the recordings on purpose. */
interface Differences {
  /** By name of the case, `all`, or `url` for its normal form: what is sent in place of what was recorded. */
  readonly [name: string]: Change | typeof skip;
}

/** Not compared: shown elsewhere in this suite. */
export const skip = true;

/** By the note of a recording or its first word, with the reason. The README says the same to people. */
export const differences: Readonly<Record<string, Differences>> = {
  // The public server would take a long message for a file, which phones show as one; cut, it stays a message.
  ntfy: { long: skip },
  // A GET has no body, so no file goes with it.
  'form method GET': { attach: (requests) => requests.map((request) => ({ ...request, headers: {}, body: '' })) },
  // Words of a notice call nobody; who is called is said in the field Discord reads.
  'discord webhook': { all: inBodies((body) => ({ ...body, allowed_mentions: nobody })) },
  // The card has no author and no field for each heading: Discord shows Markdown in its description.
  'discord options': { all: inBodies(asCard), markdown: skip, html: skip },
  // Slack, Google Chat and Telegram do not read Markdown; it is written in their own marks (fit.test.ts).
  slack: { markdown: skip, html: skip },
  gchat: { all: inBodies(boldTitle), markdown: skip, html: skip },
  tgram: { markdown: skip, html: skip },
  // Silent also with a file.
  'tgram options': { markdown: skip, html: skip, attach: skip },
  // The notification has the notice's identity, so that a repetition takes its place.
  hassio: { all: inBodies((body) => ({ ...body, notification_id: 'n1' })) },
  // What follows the token is a service; the peer takes it for the token.
  'hassio notify service': { all: skip, url: skip },
  // A token is not asked about first, and who signed in signs out at once; a transaction has the notice's identity.
  'matrix server': { all: inOneSession },
  'matrix access token': { all: inOneSession },
  // An incident is known by the notice it came from, and the URL says nothing that it did not say before.
  pagerduty: { all: inBodies(({ images: _images, ...body }) => ({ ...body, dedup_key: 'n1' })), url: skip },
  // What is fine is an alert of the lowest priority; the peer sends none.
  opsgenie: { 'text-info': skip, markdown: skip, html: skip, unicode: skip, long: skip },
  // Nobody has to be told which app it was.
  nctalk: { 'no-title': inBodies(() => ({ message: 'just a body' })) },
  // The form is encoded as forms are; the peer's breaks at an ampersand.
  synology: { 'text-info': skip },
  // A key does not travel unencrypted.
  psafer: { all: (requests) => requests.map((each) => ({ ...each, url: each.url.replace(/^http:/, 'https:') })) },
  // Markdown becomes the HTML of another writer, with lists; files keep their type, and a mail without a subject has our name.
  sendgrid: { markdown: skip, attach: withType, 'no-title': inBodies(named) },
  resend: {
    markdown: skip,
    all: keyed('n1/to@example.com'),
    attach: (each) => withType(keyed('n1/to@example.com')(each)),
    'no-title': (each, name) => inBodies(named)(keyed('n1/to@example.com')(each), name),
  },
  mailgun: { markdown: skip },
  pushplus: { markdown: skip },
  // A repetition is known by the notice, and a file is part of the post.
  mastodon: { all: keyed('n1'), attach: skip },
  // The URL says nothing that it did not say before.
  splunk: { url: skip },
  // A file goes to the target too, and the peer's to everyone.
  'pbul channel': { attach: skip },
};

const nobody = { parse: [], users: [], roles: [] };

/** Changes the JSON of every request that has one as an object. */
function inBodies(change: (body: Record<string, unknown>) => Record<string, unknown>): Change {
  return (requests) =>
    requests.map((request) => {
      const { body } = request;
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
      return isObject ? { ...request, body: change(body as Record<string, unknown>) } : request;
    });
}

function asCard(body: Record<string, unknown>): Record<string, unknown> {
  const { allow_mentions: _misspelt, embeds, ...rest } = body;
  const cards = (embeds as Record<string, unknown>[]).map(({ author: _author, ...card }) => card);
  return { ...rest, allowed_mentions: { ...nobody, parse: ['everyone'] }, embeds: cards };
}

function boldTitle(body: Record<string, unknown>): Record<string, unknown> {
  const text = String(body['text']).replace(/^# (.*)\n/, '*$1*\n');
  return { ...body, text };
}

function inOneSession(requests: readonly Comparable[]): readonly Comparable[] {
  const login = requests.find(({ url }) => url.endsWith('/login'));
  const sent = requests.filter(({ url }) => !/(logout|whoami)$/.test(url));
  let at = 0;
  const renamed = sent.map((request) => {
    if (request.method !== 'PUT') return request;
    const { room_id: _room, type: _type, ...body } = request.body as Record<string, unknown>;
    return { ...request, url: request.url.replace(/[^/]*$/, `n1-${at++}`), body };
  });
  if (login === undefined) return renamed;
  const logout = { ...login, url: login.url.replace('/login', '/logout'), body: '' };
  return [...renamed, { ...logout, headers: { authorization: 'Bearer tok_abc' } }];
}

function withType(requests: readonly Comparable[]): readonly Comparable[] {
  const typed = JSON.stringify(requests).replaceAll('"type":"application/octet-stream"', '"type":"image/png"');
  return JSON.parse(typed) as readonly Comparable[];
}

function named(body: Record<string, unknown>): Record<string, unknown> {
  return { ...body, subject: 'Homeport' };
}

function keyed(key: string) {
  return (requests: readonly Comparable[]): readonly Comparable[] =>
    requests.map((request) => ({ ...request, headers: { ...request.headers, 'idempotency-key': key } }));
}
