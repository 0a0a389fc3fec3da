import { TopicName } from '../../../contracts/push/topics.ts';
import type { Message } from '../../domain/message.ts';
import type { Destination, DestinationKind } from '../destination.ts';
import { formatField } from '../fields.ts';
import { basicAuthorization, isHeader, withQuery } from '../http.ts';
import { parseOptions, writeOptions, type CommonOptions } from '../options.ts';
import { targetsIn, secretsIn, withPath } from '../url-fields.ts';
import { sendFitted } from '../scheme.ts';
import { encodePart, hostAndPort, userInfo, type DestinationUrl } from '../url.ts';

const priorities: readonly string[] = ['min', 'low', 'default', 'high', 'max'];

/** Arguments that travel as a header of the same meaning. */
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

/** The file that a message of the URL links to, under the name that the URL or its own address gives it. */
function linkedFile({ query }: DestinationUrl): Readonly<Record<string, string>> {
  const attach = query.get('attach') ?? '';
  if (attach === '') return {};
  const path = URL.parse(attach)?.pathname ?? '';
  const filename = query.get('filename') || decodeName(path.slice(path.lastIndexOf('/') + 1));
  return { 'x-attach': headerText(attach), ...(filename === '' ? {} : { 'x-filename': headerText(filename) }) };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An address may hold a percent sign that encodes nothing.
    return text;
  }
}

/** Tags of both spellings, each once and in order, as the library sends them. */
function tagList({ query }: DestinationUrl): string {
  const listed = [...(query.get('xtags') ?? '').split(','), ...(query.get('tags') ?? '').split(/[\s,]+/)];
  const tags = [...new Set(listed.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  return (query.get('tags') ?? '') === '' ? tags.join(',') : tags.toSorted().join(',');
}

/** `max`, `5`, `m`, `urgent`, … in the peer's spelling; undefined for none. */
function parsePriority(text: string | undefined): string | undefined {
  const word = text?.trim().toLowerCase() ?? '';
  if (word === '') return 'default';
  if (word === 'urgent' || word === 'emergency') return 'max';
  if (word === 'normal' || word === 'moderate') return 'default';
  return /^[1-5]$/.test(word) ? priorities[Number(word) - 1] : priorities.find((name) => name === word);
}

const mostTopics = 100;

/** Whether it names a server of one's own; else the first topic stands where a host would. */
function isHosted(url: DestinationUrl): boolean {
  const mode = url.query.get('mode')?.toLowerCase();
  return mode !== 'cloud' && (mode === 'private' || url.path.length > 0);
}

/** With the topics in the path, the token in its argument and no host for the public server. */
function unfold(url: DestinationUrl): DestinationUrl {
  const bare = url.password === undefined && url.user?.startsWith('tk_') === true && !url.query.has('token');
  const query = new Map([...url.query, ...(bare ? [['token', url.user ?? ''] as const] : [])]);
  query.delete('mode');
  if (bare) query.delete('auth');
  const opened = { ...url, query, ...(bare ? { user: undefined } : {}) };
  if (isHosted(url) || url.host === '') return opened;
  const path = [url.host, ...url.path];
  return { ...opened, scheme: 'ntfys', host: '', path, rawPath: path.map((topic) => `/${encodePart(topic)}`).join('') };
}

function fold(url: DestinationUrl): DestinationUrl {
  if (url.host !== '') return url;
  const [host = '', ...path] = url.path;
  const query = new Map([...url.query, ['mode', 'cloud'] as const]);
  return { ...url, query, host, port: undefined, path, rawPath: path.map((topic) => `/${encodePart(topic)}`).join('') };
}

/** Topics stand one by one, with commas between, or in `?to=`. */
function withTopics(url: DestinationUrl): DestinationUrl {
  const hosted = isHosted(url);
  const to = url.query.get('to') ?? '';
  const written = hosted ? url.path : [url.host, ...url.path];
  if (to === '' && !written.some((topic) => topic.includes(','))) return url;
  const query = new Map(url.query);
  query.delete('to');
  const topics = targetsIn(written, to);
  if (hosted) return withPath({ ...url, query }, topics);
  const [host = '', ...path] = topics;
  return withPath({ ...url, query: query.set('mode', 'cloud'), host }, path);
}

interface Account {
  readonly authorization: string | undefined;
  readonly mode: 'basic' | 'token';
}

function parseAccount(url: DestinationUrl): Account {
  const asked = url.query.get('auth')?.toLowerCase();
  const token = url.query.get('token') ?? (url.password === undefined ? url.user : undefined);
  const isToken = asked === 'token' || url.query.has('token') || (asked === undefined && token?.startsWith('tk_'));
  if (isToken === true && token !== undefined) return { authorization: `Bearer ${token}`, mode: 'token' };
  return { authorization: basicAuthorization(url), mode: 'basic' };
}

/** Header values are visible ASCII; anything else goes as an RFC 2047 word, which the server reads. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

function body(topic: string, message: Message, click: string | undefined): string {
  return JSON.stringify({
    topic,
    ...(message.title === '' ? {} : { title: message.title }),
    message: message.body,
    ...(message.format === 'markdown' ? { markdown: true } : {}),
    ...(click === undefined ? {} : { click }),
  });
}

function normalUrl(
  url: DestinationUrl,
  hosted: boolean,
  account: Account,
  options: CommonOptions,
  masked: boolean,
): string {
  const priority = parsePriority(url.query.get('priority')) ?? 'default';
  const args = [
    `priority=${priority}`,
    `mode=${hosted ? 'private' : 'cloud'}`,
    `auth=${account.mode}`,
    ...headerArguments.flatMap(([name]) => {
      const value = url.query.get(name);
      return value === undefined || value === '' ? [] : [`${name}=${encodePart(value)}`];
    }),
    ...(url.query.has('token') ? [`token=${masked ? '****' : encodePart(url.query.get('token') ?? '')}`] : []),
    writeOptions(options),
  ];
  const bareToken = account.mode === 'token' && url.user !== undefined && url.password === undefined;
  // A token stands where a user name would, so it needs a mask of its own.
  const user = bareToken && masked ? `${url.user?.slice(0, 1)}...${url.user?.slice(-1)}@` : userInfo(url, masked);
  const place = hosted
    ? `${hostAndPort(url)}/${url.path.map(encodePart).join('/')}`
    : [url.host, ...url.path].join('/');
  return `${hosted ? url.scheme : 'ntfys'}://${user}${place}?${args.join('&')}`;
}

/** `ntfy://host[:port]/topic[/topic]` for one's own server, `ntfy://topic` for the public one. */
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
    about: 'An ntfy server: the public one, or one of your own.',
    unfold,
    fold,
    fields: [
      { name: 'topics', label: 'Topics', kind: 'text', at: 'targets', required: true, help: 'Commas between several.' },
      { name: 'host', label: 'Server', kind: 'text', at: 'host', help: 'Empty: the public server ntfy.sh.' },
      { name: 'port', label: 'Port', kind: 'number', at: 'port', help: 'Empty: the usual one.' },
      { name: 'secure', label: 'Encrypted (https)', kind: 'switch', at: 'secure', initial: true },
      { name: 'token', label: 'Access token', kind: 'secret', at: 'query:token' },
      { name: 'user', label: 'User', kind: 'text', at: 'user', help: 'Where there is no token.' },
      { name: 'password', label: 'Password', kind: 'secret', at: 'password' },
      {
        name: 'priority',
        label: 'Priority',
        kind: 'choice',
        at: 'query:priority',
        choices: [
          ['', 'Normal'],
          ...priorities.filter((each) => each !== 'default').map((each) => [each, each] as const),
        ],
      },
      formatField,
    ],
  },
  parse(given) {
    const url = withTopics(given);
    const options = parseOptions(url);
    if (typeof options === 'string') return options;
    const priority = parsePriority(url.query.get('priority'));
    if (priority === undefined) return `priority must be one of ${priorities.join(', ')}`;
    const hosted = isHosted(url);
    const topics = hosted ? url.path : [url.host, ...url.path];
    if (url.host === '' || topics.length === 0) return 'a topic is missing: ntfy://host/topic';
    if (topics.length > mostTopics) return `at most ${mostTopics} topics are served in one URL`;
    if (!topics.every((topic) => TopicName.safeParse(topic).success))
      return 'a topic holds characters topics do not have';
    const server = hosted ? `${url.scheme === 'ntfys' ? 'https' : 'http'}://${hostAndPort(url)}/` : 'https://ntfy.sh/';
    if (!URL.canParse(server)) return 'its host is not valid';
    const account = parseAccount(url);
    if (!isHeader('authorization', account.authorization ?? '')) return 'its token is not valid';
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

    const make = (target: DestinationUrl, topic: string): Destination => ({
      service: 'ntfy',
      optional: options.optional,
      emojis: options.emojis,
      url: (masked) => normalUrl(target, hosted, account, options, masked),
      send: sendFitted({
        noun: 'ntfy',
        places: { wordless: true, ownLink: true },
        // The server takes a longer message for a file; cut, it stays one a phone shows (its `message-size-limit`).
        shape: { format: options.format, titleLimit: 200, bodyLimit: 4096, unit: 'bytes', overflow: 'truncate' },
        options,
        secrets: () => secretsIn(url, ntfyKind),
        async send(message, { ask, once }) {
          const click = headers['x-click'] === undefined ? message.link : undefined;
          const [file, ...more] = message.attachments ?? [];
          if (file === undefined) {
            await ask({ method: 'POST', url: server, headers, body: body(topic, message, click) });
            return;
          }
          // A message has one file; each further one is a message of its own.
          const { 'content-type': _type, 'x-attach': _attach, 'x-filename': _name, ...bare } = headers;
          const about = { title: message.title === '' ? undefined : message.title, message: message.body, click };
          for (const [at, { name, read }] of [file, ...more].entries()) {
            const url = withQuery(`${server}${topic}`, { filename: name, ...(at === 0 ? about : {}) });
            await once(`file ${String(at)}`, async () => {
              await ask({ method: 'POST', url, headers: bare, body: await read() });
            });
          }
        },
      }),
    });
    const first = topics[0] ?? '';
    if (topics.length === 1) return make(url, first);
    const alone = (topic: string): DestinationUrl =>
      hosted ? { ...url, path: [topic] } : { ...url, host: topic, path: [] };
    return { ...make(url, first), parts: topics.map((topic) => make(alone(topic), topic)) };
  },
};
