import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { TopicName } from '../../../contracts/push/topics.ts';
import type { Message } from '../../domain/message.ts';
import type { Destination, DestinationKind } from '../destination.ts';
import { formatField } from '../fields.ts';
import { basicAuthorization, isHeader, withQuery } from '../http.ts';
import { parseOptions, writeOptions, type CommonOptions } from '../options.ts';
import { splitTargets, secretsIn, withPath } from '../url-fields.ts';
import { createSend } from '../scheme.ts';
import { encodePart, hostAndPort, userInfo, type DestinationUrl } from '../url.ts';
import { decodePercentEncoding } from '../../../contracts/percent-encoding.ts';

const priorities: readonly string[] = ['min', 'low', 'default', 'high', 'max'];

/** Arguments that are sent as a header. */
const headerArguments: readonly (readonly [argument: string, header: string])[] = [
  ['delay', 'x-delay'],
  ['click', 'x-click'],
  ['email', 'x-email'],
  ['xtags', 'x-tags'],
  ['tags', 'x-tags'],
  ['actions', 'x-actions'],
  ['avatar_url', 'x-icon'],
  ['attach', 'x-attach'],
  ['filename', 'x-filename'],
];

/** Returns the headers for the file that the URL links to, with the name of the URL or of the file's address. */
function linkedFile({ query }: DestinationUrl): Readonly<Record<string, string>> {
  const attach = query.get('attach') ?? '';
  if (attach === '') return {};
  const path = URL.parse(attach)?.pathname ?? '';
  const filename = query.get('filename') || decodeName(path.slice(path.lastIndexOf('/') + 1));
  return { 'x-attach': headerText(attach), ...(filename === '' ? {} : { 'x-filename': headerText(filename) }) };
}

function decodeName(text: string): string {
  // An address may contain a percent sign that encodes nothing.
  return decodePercentEncoding(text) ?? text;
}

/** Returns the tags of both arguments, each once and in order, as Apprise sends them. */
function tagList({ query }: DestinationUrl): string {
  const tagNames = [...(query.get('xtags') ?? '').split(','), ...(query.get('tags') ?? '').split(/[\s,]+/)];
  const tags = [...new Set(tagNames.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  return (query.get('tags') ?? '') === '' ? tags.join(',') : tags.toSorted().join(',');
}

/** Parses a priority such as `max`, `5` or `urgent`. Returns undefined for an unknown one. */
function parsePriority(text: string | undefined): string | undefined {
  const priorityText = text?.trim().toLowerCase() ?? '';
  if (priorityText === '') return 'default';
  if (priorityText === 'urgent' || priorityText === 'emergency') return 'max';
  if (priorityText === 'normal' || priorityText === 'moderate') return 'default';
  return /^[1-5]$/.test(priorityText)
    ? priorities[Number(priorityText) - 1]
    : priorities.find((name) => name === priorityText);
}

const maxTopics = 100;

/** Returns true for a self-hosted server; otherwise the host is the first topic. */
function isOwnServer(url: DestinationUrl): boolean {
  const mode = url.query.get('mode')?.toLowerCase();
  return mode !== 'cloud' && (mode === 'private' || url.path.length > 0);
}

/** Moves the topics to the path and the token to its argument; the public server has no host. */
function unfold(url: DestinationUrl): DestinationUrl {
  const hasBareToken = url.password === undefined && url.user?.startsWith('tk_') === true && !url.query.has('token');
  const query = new Map([...url.query, ...(hasBareToken ? [['token', url.user ?? ''] as const] : [])]);
  query.delete('mode');
  if (hasBareToken) query.delete('auth');
  const unfolded = { ...url, query, ...(hasBareToken ? { user: undefined } : {}) };
  if (isOwnServer(url) || url.host === '') return unfolded;
  const path = [url.host, ...url.path];
  return {
    ...unfolded,
    scheme: 'ntfys',
    host: '',
    path,
    rawPath: path.map((topic) => `/${encodePart(topic)}`).join(''),
  };
}

function fold(url: DestinationUrl): DestinationUrl {
  if (url.host !== '') return url;
  const [host = '', ...path] = url.path;
  const query = new Map([...url.query, ['mode', 'cloud'] as const]);
  return { ...url, query, host, port: undefined, path, rawPath: path.map((topic) => `/${encodePart(topic)}`).join('') };
}

/** Moves the topics to separate path segments. They may also be separated by commas or be in `?to=`. */
function normalizeTopics(url: DestinationUrl): DestinationUrl {
  const isOwn = isOwnServer(url);
  const to = url.query.get('to') ?? '';
  const topicTexts = isOwn ? url.path : [url.host, ...url.path];
  if (to === '' && !topicTexts.some((topic) => topic.includes(','))) return url;
  const query = new Map(url.query);
  query.delete('to');
  const topics = splitTargets(topicTexts, to);
  if (isOwn) return withPath({ ...url, query }, topics);
  const [host = '', ...path] = topics;
  return withPath({ ...url, query: query.set('mode', 'cloud'), host }, path);
}

interface Account {
  readonly authorization: string | undefined;
  readonly mode: 'basic' | 'token';
}

function parseAccount(url: DestinationUrl): Account {
  const requestedMode = url.query.get('auth')?.toLowerCase();
  const token = url.query.get('token') ?? (url.password === undefined ? url.user : undefined);
  const isToken =
    requestedMode === 'token' || url.query.has('token') || (requestedMode === undefined && token?.startsWith('tk_'));
  if (isToken === true && token !== undefined) return { authorization: `Bearer ${token}`, mode: 'token' };
  return { authorization: basicAuthorization(url), mode: 'basic' };
}

/**
 * Encodes a header value. Text that is not visible ASCII becomes an encoded word of RFC 2047, which the server
 * decodes.
 */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

function buildBody(topic: string, message: Message, click: string | undefined): string {
  return JSON.stringify({
    topic,
    ...(message.title === '' ? {} : { title: message.title }),
    message: message.body,
    ...(message.format === 'markdown' ? { markdown: true } : {}),
    ...(click === undefined ? {} : { click }),
  });
}

function buildNormalUrl(
  url: DestinationUrl,
  isOwn: boolean,
  account: Account,
  options: CommonOptions,
  masked: boolean,
): string {
  const priority = parsePriority(url.query.get('priority')) ?? 'default';
  const args = [
    `priority=${priority}`,
    `mode=${isOwn ? 'private' : 'cloud'}`,
    `auth=${account.mode}`,
    ...headerArguments.flatMap(([name]) => {
      const value = url.query.get(name);
      return value === undefined || value === '' ? [] : [`${name}=${encodePart(value)}`];
    }),
    ...(url.query.has('token') ? [`token=${masked ? '****' : encodePart(url.query.get('token') ?? '')}`] : []),
    writeOptions(options),
  ];
  const bareToken = account.mode === 'token' && url.user !== undefined && url.password === undefined;
  // The token is in the place of the user name, so it is masked separately.
  const user = bareToken && masked ? `${url.user?.slice(0, 1)}...${url.user?.slice(-1)}@` : userInfo(url, masked);
  const location = isOwn
    ? `${hostAndPort(url)}/${url.path.map(encodePart).join('/')}`
    : [url.host, ...url.path].join('/');
  return `${isOwn ? url.scheme : 'ntfys'}://${user}${location}?${args.join('&')}`;
}

/** `ntfy://host[:port]/topic[/topic]` for a self-hosted server, `ntfy://topic` for the public one. */
export const ntfyKind: DestinationKind = {
  service: 'ntfy',
  files: true,
  label: 'ntfy',
  protocols: ['ntfy'],
  secureProtocols: ['ntfys'],
  templates: [
    '{schema}://{topic}',
    '{schema}://{host}/{targets}',
    '{schema}://{host}:{port}/{targets}',
    '{schema}://{user}:{password}@{host}/{targets}',
    '{schema}://{token}@{host}/{targets}',
  ],
  args: ['priority', 'mode', 'auth', 'token', ...headerArguments.map(([name]) => name)],
  form: {
    about: m.ntfyAbout,
    unfold,
    fold,
    fields: [
      {
        name: 'topics',
        label: m.topics,
        kind: 'text',
        location: 'targets',
        required: true,
        help: m.severalHelp,
      },
      { name: 'host', label: m.server, kind: 'text', location: 'host', help: m.ntfyServerHelp },
      { name: 'port', label: m.port, kind: 'number', location: 'port', help: m.defaultPortHelp },
      { name: 'secure', label: m.encrypted, kind: 'switch', location: 'secure', initial: true },
      { name: 'token', label: m.accessToken, kind: 'secret', location: 'query:token' },
      { name: 'user', label: m.user, kind: 'text', location: 'user', help: m.ntfyUserHelp },
      { name: 'password', label: m.password, kind: 'secret', location: 'password' },
      {
        name: 'priority',
        label: m.priority,
        kind: 'choice',
        location: 'query:priority',
        choices: [
          ['', m.normal],
          ...priorities.filter((each) => each !== 'default').map((each) => [each, each] as const),
        ],
      },
      formatField,
    ],
  },
  parse(typed) {
    const url = normalizeTopics(typed);
    const options = parseOptions(url);
    if (typeof options === 'string') return options;
    const priority = parsePriority(url.query.get('priority'));
    if (priority === undefined) return problems.argumentInvalid({ name: 'priority', values: priorities.join(', ') });
    const isOwn = isOwnServer(url);
    const topics = isOwn ? url.path : [url.host, ...url.path];
    if (url.host === '' || topics.length === 0) return problems.addressIncomplete({ example: 'ntfy://host/topic' });
    if (topics.length > maxTopics) return problems.tooManyTopics({ limit: maxTopics });
    if (!topics.every((topic) => TopicName.safeParse(topic).success)) return problems.topicInvalid();
    const server = isOwn ? `${url.scheme === 'ntfys' ? 'https' : 'http'}://${hostAndPort(url)}/` : 'https://ntfy.sh/';
    if (!URL.canParse(server)) return problems.addressHostInvalid();
    const account = parseAccount(url);
    if (!isHeader('authorization', account.authorization ?? '')) return problems.tokenInvalid();
    const headers = buildHeaders(url, account, priority);
    const shared = { url, isOwn, server, account, headers, options };
    const first = topics[0] ?? '';
    if (topics.length === 1) return buildTopicDestination(shared, url, first);
    const toTopicUrl = (topic: string): DestinationUrl =>
      isOwn ? { ...url, path: [topic] } : { ...url, host: topic, path: [] };
    return {
      ...buildTopicDestination(shared, url, first),
      parts: topics.map((topic) => buildTopicDestination(shared, toTopicUrl(topic), topic)),
    };
  },
};

/** Returns the headers that all messages of a URL have. */
function buildHeaders(url: DestinationUrl, account: Account, priority: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (account.authorization !== undefined) headers['authorization'] = account.authorization;
  if (priority !== 'default') headers['x-priority'] = priority;
  for (const [name, header] of headerArguments) {
    const value = url.query.get(name);
    if (value !== undefined && value !== '') headers[header] = headerText(value);
  }
  delete headers['x-filename'];
  Object.assign(headers, linkedFile(url));
  const tags = tagList(url);
  if (tags !== '') headers['x-tags'] = headerText(tags);
  return headers;
}

/** Parsed URL, which may have several topics. */
interface NtfyUrl {
  readonly url: DestinationUrl;
  readonly isOwn: boolean;
  /** Address of the server with a trailing slash. */
  readonly server: string;
  readonly account: Account;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: CommonOptions;
}

/** @param topicUrl URL of the topic alone, from which the normal form is built */
function buildTopicDestination(shared: NtfyUrl, topicUrl: DestinationUrl, topic: string): Destination {
  const { url, isOwn, server, account, headers, options } = shared;
  return {
    service: 'ntfy',
    optional: options.optional,
    emojis: options.emojis,
    url: (masked) => buildNormalUrl(topicUrl, isOwn, account, options, masked),
    send: createSend({
      noun: 'ntfy',
      capabilities: { filesOnly: true, handlesLink: true },
      // The server converts a longer message to a file; a truncated one is displayed (see its
      // `message-size-limit`).
      shape: { format: options.format, titleLimit: 200, bodyLimit: 4096, unit: 'bytes', overflow: 'truncate' },
      options,
      secrets: () => secretsIn(url, ntfyKind),
      async send(message, { request, once }) {
        const click = headers['x-click'] === undefined ? message.link : undefined;
        const [file, ...otherFiles] = message.attachments ?? [];
        if (file === undefined) {
          await request({ method: 'POST', url: server, headers, body: buildBody(topic, message, click) });
          return;
        }
        // A message has one file; additional files are sent as separate messages.
        const { 'content-type': _type, 'x-attach': _attach, 'x-filename': _name, ...fileHeaders } = headers;
        const textQuery = { title: message.title === '' ? undefined : message.title, message: message.body, click };
        for (const [index, { name, read }] of [file, ...otherFiles].entries()) {
          const fileUrl = withQuery(`${server}${topic}`, { filename: name, ...(index === 0 ? textQuery : {}) });
          await once(`file ${String(index)}`, async () => {
            await request({ method: 'POST', url: fileUrl, headers: fileHeaders, body: await read() });
          });
        }
      },
    }),
  };
}
