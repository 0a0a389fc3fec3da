import { ExecutionError } from '../errors.ts';
import { quote } from '../format/quote.ts';
import { Dict, getKind, createNilError, type Value } from '../values.ts';
import { defineFunction, type TemplateFunction } from './signature.ts';

/** Parts of a URL, decoded where Go decodes them. */
interface UrlParts {
  readonly scheme: string;
  readonly opaque: string;
  readonly userinfo: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

const unreserved = 'A-Za-z0-9_.~\\-';
/** Characters that need no escape in each part. */
const unescapedCharacters = {
  path: new RegExp(`[${unreserved}$&+,/:;=@]`),
  fragment: new RegExp(`[${unreserved}$&+,/:;=?@!()*]`),
  user: new RegExp(`[${unreserved}$&+,;=]`),
  query: new RegExp(`[${unreserved}]`),
  host: new RegExp(`[${unreserved}!$&'()*+,;=:[\\]<>"]`),
};

function escapePart(text: string, part: keyof typeof unescapedCharacters): string {
  return text.replace(/[^]/g, (byte) =>
    unescapedCharacters[part].test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/**
 * Decodes percent escapes.
 *
 * @throws ExecutionError for an invalid escape
 */
function decodeEscapes(text: string): string {
  return text.replace(/%(?:([0-9a-fA-F]{2})|(.{0,2}))/gs, (_all, hex: string | undefined, invalid = '') => {
    if (hex === undefined) throw new ExecutionError(`invalid URL escape ${quote(`%${String(invalid)}`)}`);
    return String.fromCharCode(parseInt(hex, 16));
  });
}

/** Encodes text for a query like Go's QueryEscape. */
export function escapeQuery(bytes: string): string {
  return escapePart(bytes, 'query').replaceAll('%20', '+');
}

/**
 * Parses a URL.
 *
 * @throws ExecutionError
 */
function parseUrl(text: string): UrlParts {
  const [, beforeFragment = '', , fragmentText = ''] = /^([^#]*)(#([^]*))?$/.exec(text) ?? [];
  if (/[\0-\x20\x7f]/.test(beforeFragment.replaceAll(' ', '')) || beforeFragment.startsWith(' '))
    throw new ExecutionError('net/url: invalid control character in URL');
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?([^]*)$/.exec(beforeFragment) ?? [];
  if (beforeFragment.startsWith(':')) throw new ExecutionError('missing protocol scheme');
  const queryStart = rest.indexOf('?');
  const hierarchy = queryStart < 0 ? rest : rest.slice(0, queryStart);
  const query = queryStart < 0 ? '' : rest.slice(queryStart + 1);
  const common = { scheme: scheme.toLowerCase(), query, fragment: decodeEscapes(fragmentText) };
  if (scheme !== '' && !hierarchy.startsWith('/')) {
    return { ...common, opaque: hierarchy, userinfo: '', host: '', path: '' };
  }
  if (scheme === '' && !hierarchy.startsWith('/') && /^[^/]*:/.test(hierarchy)) {
    throw new ExecutionError('first path segment in URL cannot contain colon');
  }
  if (!hierarchy.startsWith('//') || (scheme === '' && hierarchy.startsWith('///'))) {
    return { ...common, opaque: '', userinfo: '', host: '', path: decodeEscapes(hierarchy) };
  }
  const [, authority = '', path = ''] = /^\/\/([^/]*)([^]*)$/.exec(hierarchy) ?? [];
  return { ...common, opaque: '', ...parseAuthority(authority), path: decodeEscapes(path) };
}

function parseAuthority(authority: string): Pick<UrlParts, 'userinfo' | 'host'> {
  const atIndex = authority.lastIndexOf('@');
  const host = authority.slice(atIndex + 1);
  if (host.startsWith('[') && !host.includes(']')) throw new ExecutionError("missing ']' in host");
  const port = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : (/:[^]*$/.exec(host)?.[0] ?? '');
  if (!/^(?::\d*)?$/.test(port)) throw new ExecutionError(`invalid port ${quote(port)} after host`);
  if (/[ \\^`{|}]/.test(host))
    throw new ExecutionError(`invalid character ${quote(/[ \\^`{|}]/.exec(host)?.[0] ?? '')} in host name`);
  return { userinfo: atIndex < 0 ? '' : normalizeUserinfo(authority.slice(0, atIndex)), host: decodeEscapes(host) };
}

/** Normalizes user name and password by decoding and encoding each. */
function normalizeUserinfo(text: string): string {
  if (/[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(text)) throw new ExecutionError('net/url: invalid userinfo');
  const colon = text.indexOf(':');
  if (colon < 0) return escapePart(decodeEscapes(text), 'user');
  return `${escapePart(decodeEscapes(text.slice(0, colon)), 'user')}:${escapePart(decodeEscapes(text.slice(colon + 1)), 'user')}`;
}

function parseOrFail(text: string): UrlParts {
  try {
    return parseUrl(text);
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    throw new ExecutionError(`unable to parse url: parse ${quote(text)}: ${error.message}`);
  }
}

function formatUrl({ scheme, opaque, userinfo, host, path, query, fragment }: UrlParts): string {
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque === '') {
    if (scheme !== '' || host !== '' || userinfo !== '') {
      if (host !== '' || path !== '' || userinfo !== '') text += '//';
      if (userinfo !== '') text += `${userinfo}@`;
      text += escapePart(host, 'host');
    }
    const fragmentText = escapePart(path, 'path');
    if (fragmentText !== '' && !fragmentText.startsWith('/') && host !== '') text += '/';
    // Otherwise the first segment would be parsed as a scheme.
    if (text === '' && /^[^/]*:/.test(fragmentText)) text = './';
    text += fragmentText;
  } else {
    text += opaque;
  }
  if (query !== '') text += `?${query}`;
  return fragment === '' ? text : `${text}#${escapePart(fragment, 'fragment')}`;
}

function getText(dict: Dict, name: string): string {
  const value: Value = dict.entries.get(name);
  if (!dict.entries.has(name)) return '';
  if (value === null || value === undefined) throw createNilError();
  if (typeof value === 'string') return value;
  throw new ExecutionError(`unable to parse ${name} key, must be of type string, but ${getKind(value)} found`);
}

/** Sprig's functions for URLs. */
export const urlFunctions: Readonly<Record<string, TemplateFunction>> = {
  urlParse: defineFunction(['string'], ([text]) => {
    const { scheme, opaque, userinfo, host, path, query, fragment } = parseOrFail(text);
    const hostname = /^\[([^\]]*)\]/.exec(host)?.[1] ?? host.replace(/:\d*$/, '');
    return new Dict(Object.entries({ scheme, opaque, userinfo, host, hostname, path, query, fragment }));
  }),
  urlJoin: defineFunction(['map'], ([dict]) =>
    formatUrl({
      scheme: getText(dict, 'scheme'),
      opaque: getText(dict, 'opaque'),
      userinfo: normalizeUserinfo(getText(dict, 'userinfo')),
      host: getText(dict, 'host'),
      path: getText(dict, 'path'),
      query: getText(dict, 'query'),
      fragment: getText(dict, 'fragment'),
    }),
  ),
};
