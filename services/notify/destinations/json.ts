import type { Message } from '../domain/message.ts';
import type { DestinationKind } from './destination.ts';
import { formatField } from './grammar.ts';
import { basicAuthorization, isHeader, userAgent } from './http.ts';
import { parseOptions, writeOptions } from './options.ts';
import { resultOfError, resultOfReply } from './result.ts';
import { hostAndPort, prefixedArguments, userInfo, type DestinationUrl } from './url.ts';

const methods = ['POST', 'GET', 'DELETE', 'PUT', 'HEAD', 'PATCH'] as const;

/** The body the peer posts; `:name=value` renames a field, drops it (empty value) or adds one. */
function payload(message: Message, fields: DestinationUrl['fields']): string {
  const known: Readonly<Record<string, unknown>> = {
    version: '1.0',
    title: message.title,
    message: message.body,
    attachments: [],
    type: message.type,
  };
  const kept = Object.entries(known).filter(([name]) => !fields.has(name));
  const changed = [...fields].flatMap(([name, value]) => {
    if (!Object.hasOwn(known, name)) return [[name, value] as const];
    return value === '' ? [] : [[value, known[name]] as const];
  });
  return JSON.stringify(Object.fromEntries([...kept, ...changed]));
}

/** Query of the request from the `-name=value` arguments. */
function search(parameters: DestinationUrl['parameters']): string {
  const text = new URLSearchParams([...parameters]).toString();
  return text === '' ? '' : `?${text}`;
}

/** `json://[user:password@]host[:port]/path`: posts the notice as JSON to any web address. */
export const jsonKind: DestinationKind = {
  service: 'JSON',
  label: 'json',
  protocols: ['json'],
  secureProtocols: ['jsons'],
  templates: [
    '{schema}://{host}',
    '{schema}://{host}:{port}',
    '{schema}://{user}:{password}@{host}',
    '{schema}://{user}:{password}@{host}:{port}',
  ],
  args: ['method'],
  form: {
    about: 'Posts the notice as JSON to any web address.',
    fields: [
      { name: 'host', label: 'Host', kind: 'text', at: 'host', required: true },
      { name: 'port', label: 'Port', kind: 'number', at: 'port', help: 'Empty: the usual one.' },
      { name: 'secure', label: 'Encrypted (https)', kind: 'switch', at: 'secure', initial: true },
      { name: 'path', label: 'Path', kind: 'text', at: 'path', help: 'What follows the host, such as /hooks/news.' },
      {
        name: 'method',
        label: 'Method',
        kind: 'choice',
        at: 'query:method',
        choices: [['', 'POST'], ...methods.slice(1).map((method) => [method, method] as const)],
      },
      { name: 'user', label: 'User', kind: 'text', at: 'user' },
      { name: 'password', label: 'Password', kind: 'secret', at: 'password' },
      {
        name: 'authorization',
        label: 'Authorization header',
        kind: 'secret',
        at: 'header:Authorization',
        help: 'In place of user and password, such as Bearer and a token.',
      },
      formatField,
    ],
  },
  parse(url) {
    if (url.host === '') return 'a host is missing: json://host/path';
    const wanted = url.query.get('method')?.toUpperCase() ?? 'POST';
    const method = methods.find((each) => each === wanted);
    if (method === undefined) return `method must be one of ${methods.join(', ')}`;
    const options = parseOptions(url);
    if (typeof options === 'string') return options;
    const address = `${url.scheme === 'jsons' ? 'https' : 'http'}://${hostAndPort(url)}${url.rawPath}${search(url.parameters)}`;
    if (!URL.canParse(address)) return 'its host or path is not valid';
    if (![...url.headers].every(([name, value]) => isHeader(name, value))) return 'one of its headers is not valid';
    const authorization = basicAuthorization(url);
    const truncate = options.overflow === 'truncate';
    const notSent = `Failed to send JSON ${method} notification`;
    return {
      service: 'JSON',
      shape: {
        format: options.format,
        titleLimit: truncate ? 250 : undefined,
        bodyLimit: truncate ? 32_768 : undefined,
      },
      optional: options.optional,
      url: (masked) => {
        const args = [`method=${method}`, writeOptions(options), ...prefixedArguments(url, masked)].join('&');
        return `${url.scheme}://${userInfo(url, masked)}${hostAndPort(url)}${url.rawPath}?${args}`;
      },
      async send(message, { fetch }, signal) {
        try {
          const reply = await fetch(address, {
            method,
            headers: {
              'user-agent': userAgent,
              'content-type': 'application/json',
              ...(authorization === undefined ? {} : { authorization }),
              ...Object.fromEntries([...url.headers].map(([name, value]) => [name.toLowerCase(), value])),
            },
            // Requests of these methods carry no body; the fields would be lost either way.
            ...(method === 'GET' || method === 'HEAD' ? {} : { body: payload(message, url.fields) }),
            signal,
            timeoutMs: options.timeoutMs,
            maxRedirects: options.redirect ? 5 : 0,
            trust: 'owner',
          });
          return resultOfReply(reply, `Sent JSON ${method} notification.`, notSent);
        } catch (error) {
          return resultOfError(error, notSent);
        }
      },
    };
  },
};
