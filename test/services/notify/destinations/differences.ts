import type { Comparable } from './compare.ts';

type Change = (requests: readonly Comparable[], name?: string) => readonly Comparable[];

/** Intended difference of a destination kind from the recordings. */
interface Differences {
  /** Replacements by the name of the case, `all`, or `url` for the normalized URL. */
  readonly [name: string]: Change | typeof skip;
}

/** Not compared here, but tested elsewhere in this suite. */
export const skip = true;

/** Differences by the note of a recording or its first word, with the reason. The README lists the same for users. */
export const differences: Readonly<Record<string, Differences>> = {
  // The public server converts a long message to a file; a truncated message remains a message.
  ntfy: { long: skip },
  // A GET request has no body, so files are not sent.
  'form method GET': { attach: (requests) => requests.map((request) => ({ ...request, headers: {}, body: '' })) },
  // Text in a message mentions no account; mentions are listed in the field that Discord reads.
  'discord webhook': { all: inBodies((body) => ({ ...body, allowed_mentions: noMentions })) },
  // The card has no author and no field per heading: Discord renders Markdown in the description.
  'discord options': { all: inBodies(asCard), markdown: skip, html: skip },
  // Slack, Google Chat and Telegram do not support Markdown; it is converted to their markup (fit-message.test.ts).
  slack: { markdown: skip, html: skip },
  gchat: { all: inBodies(boldTitle), markdown: skip, html: skip },
  tgram: { markdown: skip, html: skip },
  // Messages with a file are silent as well.
  'tgram options': { markdown: skip, html: skip, attach: skip },
  // The message has the identity of the notification, so that a repetition replaces it.
  hassio: { all: inBodies((body) => ({ ...body, notification_id: 'n1' })) },
  // The part after the token is a service; Apprise reads it as the token.
  'hassio notify service': { all: skip, url: skip },
  // A token is not verified first, a session is signed out immediately, and a transaction has the identity of the
  // notification.
  'matrix server': { all: inOneSession },
  'matrix access token': { all: inOneSession },
  // An incident is identified by its notification, and the URL contains only the written arguments.
  pagerduty: { all: inBodies(({ images: _images, ...body }) => ({ ...body, dedup_key: 'n1' })), url: skip },
  // A success is an alert of the lowest priority; Apprise sends none.
  opsgenie: { 'text-info': skip, markdown: skip, html: skip, unicode: skip, long: skip },
  // The name of the app is omitted.
  nctalk: { 'no-title': inBodies(() => ({ message: 'just a body' })) },
  // The form is encoded; the form of Apprise is invalid after an ampersand.
  synology: { 'text-info': skip },
  // A key is not sent unencrypted.
  psafer: { all: (requests) => requests.map((entry) => ({ ...entry, url: entry.url.replace(/^http:/, 'https:') })) },
  // Markdown is converted by another library, with lists; files keep their type, and a mail without a subject contains
  // Homeport's name.
  sendgrid: { markdown: skip, attach: withType, 'no-title': inBodies(named) },
  resend: {
    markdown: skip,
    all: keyed('n1/to@example.com'),
    attach: (entry) => withType(keyed('n1/to@example.com')(entry)),
    'no-title': (entry, name) => inBodies(named)(keyed('n1/to@example.com')(entry), name),
  },
  mailgun: { markdown: skip },
  pushplus: { markdown: skip },
  // A repetition has the identity of the notification, and a file is part of the post.
  mastodon: { all: keyed('n1'), attach: skip },
  // The URL contains only the written arguments.
  splunk: { url: skip },
  // A file is sent to the target as well; Apprise sends it to all.
  'pbul channel': { attach: skip },
};

const noMentions = { parse: [], users: [], roles: [] };

/** Changes the JSON of each request whose body is an object. */
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
  return { ...rest, allowed_mentions: { ...noMentions, parse: ['everyone'] }, embeds: cards };
}

function boldTitle(body: Record<string, unknown>): Record<string, unknown> {
  const text = String(body['text']).replace(/^# (.*)\n/, '*$1*\n');
  return { ...body, text };
}

function inOneSession(requests: readonly Comparable[]): readonly Comparable[] {
  const login = requests.find(({ url }) => url.endsWith('/login'));
  const sent = requests.filter(({ url }) => !/(logout|whoami)$/.test(url));
  let count = 0;
  const renamed = sent.map((request) => {
    if (request.method !== 'PUT') return request;
    const { room_id: _room, type: _type, ...body } = request.body as Record<string, unknown>;
    return { ...request, url: request.url.replace(/[^/]*$/, `n1-${count++}`), body };
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
