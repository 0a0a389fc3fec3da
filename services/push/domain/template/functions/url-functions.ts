import { RunFault } from '../errors.ts';
import { quote } from '../format/quote.ts';
import { Dict, kindOf, nilDereference, type Value } from '../values.ts';
import { takes, type TemplateFunction } from './signature.ts';

/** The parts of an address, decoded where Go decodes them. */
interface Address {
  readonly scheme: string;
  readonly opaque: string;
  readonly userinfo: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

const unreserved = 'A-Za-z0-9_.~\\-';
/** What each part may hold as it is. */
const plain = {
  path: new RegExp(`[${unreserved}$&+,/:;=@]`),
  fragment: new RegExp(`[${unreserved}$&+,/:;=?@!()*]`),
  user: new RegExp(`[${unreserved}$&+,;=]`),
  query: new RegExp(`[${unreserved}]`),
  host: new RegExp(`[${unreserved}!$&'()*+,;=:[\\]<>"]`),
};

function escape(text: string, part: keyof typeof plain): string {
  return text.replace(/[^]/g, (byte) =>
    plain[part].test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** @throws RunFault for a `%` that leads nowhere */
function unescape(text: string): string {
  return text.replace(/%(?:([0-9a-fA-F]{2})|(.{0,2}))/gs, (_all, hex: string | undefined, wrong = '') => {
    if (hex === undefined) throw new RunFault(`invalid URL escape ${quote(`%${String(wrong)}`)}`);
    return String.fromCharCode(parseInt(hex, 16));
  });
}

/** Go's encoding of a text for a query. */
export function escapeQuery(bytes: string): string {
  return escape(bytes, 'query').replaceAll('%20', '+');
}

/** @throws RunFault */
function parse(text: string): Address {
  const [, before = '', , written = ''] = /^([^#]*)(#([^]*))?$/.exec(text) ?? [];
  if (/[\0-\x20\x7f]/.test(before.replaceAll(' ', '')) || before.startsWith(' '))
    throw new RunFault('net/url: invalid control character in URL');
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?([^]*)$/.exec(before) ?? [];
  if (before.startsWith(':')) throw new RunFault('missing protocol scheme');
  const mark = rest.indexOf('?');
  const way = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const common = { scheme: scheme.toLowerCase(), query, fragment: unescape(written) };
  if (scheme !== '' && !way.startsWith('/')) {
    return { ...common, opaque: way, userinfo: '', host: '', path: '' };
  }
  if (scheme === '' && !way.startsWith('/') && /^[^/]*:/.test(way)) {
    throw new RunFault('first path segment in URL cannot contain colon');
  }
  if (!way.startsWith('//') || (scheme === '' && way.startsWith('///'))) {
    return { ...common, opaque: '', userinfo: '', host: '', path: unescape(way) };
  }
  const [, authority = '', path = ''] = /^\/\/([^/]*)([^]*)$/.exec(way) ?? [];
  return { ...common, opaque: '', ...readAuthority(authority), path: unescape(path) };
}

function readAuthority(authority: string): Pick<Address, 'userinfo' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  if (host.startsWith('[') && !host.includes(']')) throw new RunFault("missing ']' in host");
  const port = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : (/:[^]*$/.exec(host)?.[0] ?? '');
  if (!/^(?::\d*)?$/.test(port)) throw new RunFault(`invalid port ${quote(port)} after host`);
  if (/[ \\^`{|}]/.test(host))
    throw new RunFault(`invalid character ${quote(/[ \\^`{|}]/.exec(host)?.[0] ?? '')} in host name`);
  return { userinfo: at < 0 ? '' : readUser(authority.slice(0, at)), host: unescape(host) };
}

/** Name and password, each decoded and encoded again. */
function readUser(text: string): string {
  if (/[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(text)) throw new RunFault('net/url: invalid userinfo');
  const colon = text.indexOf(':');
  if (colon < 0) return escape(unescape(text), 'user');
  return `${escape(unescape(text.slice(0, colon)), 'user')}:${escape(unescape(text.slice(colon + 1)), 'user')}`;
}

function read(text: string): Address {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof RunFault)) throw error;
    throw new RunFault(`unable to parse url: parse ${quote(text)}: ${error.message}`);
  }
}

function write({ scheme, opaque, userinfo, host, path, query, fragment }: Address): string {
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque === '') {
    if (scheme !== '' || host !== '' || userinfo !== '') {
      if (host !== '' || path !== '' || userinfo !== '') text += '//';
      if (userinfo !== '') text += `${userinfo}@`;
      text += escape(host, 'host');
    }
    const written = escape(path, 'path');
    if (written !== '' && !written.startsWith('/') && host !== '') text += '/';
    // Or the first part would be taken for a scheme.
    if (text === '' && /^[^/]*:/.test(written)) text = './';
    text += written;
  } else {
    text += opaque;
  }
  if (query !== '') text += `?${query}`;
  return fragment === '' ? text : `${text}#${escape(fragment, 'fragment')}`;
}

function textAt(dict: Dict, name: string): string {
  const value: Value = dict.entries.get(name);
  if (!dict.entries.has(name)) return '';
  if (value === null || value === undefined) throw nilDereference();
  if (typeof value === 'string') return value;
  throw new RunFault(`unable to parse ${name} key, must be of type string, but ${kindOf(value)} found`);
}

/** Sprig's functions for addresses. */
export const urlFunctions: Readonly<Record<string, TemplateFunction>> = {
  urlParse: takes(['string'], ([text]) => {
    const { scheme, opaque, userinfo, host, path, query, fragment } = read(text);
    const hostname = /^\[([^\]]*)\]/.exec(host)?.[1] ?? host.replace(/:\d*$/, '');
    return new Dict(Object.entries({ scheme, opaque, userinfo, host, hostname, path, query, fragment }));
  }),
  urlJoin: takes(['map'], ([dict]) =>
    write({
      scheme: textAt(dict, 'scheme'),
      opaque: textAt(dict, 'opaque'),
      userinfo: readUser(textAt(dict, 'userinfo')),
      host: textAt(dict, 'host'),
      path: textAt(dict, 'path'),
      query: textAt(dict, 'query'),
      fragment: textAt(dict, 'fragment'),
    }),
  ),
};
