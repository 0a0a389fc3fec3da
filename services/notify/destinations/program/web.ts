import * as problems from '#messages/notify-problems';
import type { Text } from '../../../contracts/text.ts';
import * as m from '#messages/notify-forms';
import type { DestinationKind } from '../destination.ts';
import { choiceField, formatField, passwordField, secretField, serverFields, textField, userField } from '../fields.ts';
import type { FormFieldDefinition } from '../form-definition.ts';
import { basicAuthorization, withQuery } from '../http.ts';
import type { Address, SchemeDefinition } from '../scheme.ts';
import type { DestinationUrl } from '../url.ts';

const methods = ['POST', 'GET', 'DELETE', 'PUT', 'HEAD', 'PATCH'] as const;
export type WebMethod = (typeof methods)[number];

/** Shared properties of the kinds that post to any web address: `json`, `form`, `xml`. */
export const webDefaults = {
  templates: [
    '{schema}://{host}',
    '{schema}://{host}:{port}',
    '{schema}://{user}:{password}@{host}',
    '{schema}://{user}:{password}@{host}:{port}',
  ],
  args: ['method'],
  files: true,
  filesOnly: true,
  handlesLink: true,
  overflow: 'upstream',
  titleLimit: 250,
  bodyLimit: 32_768,
  normalize: (url) => {
    const query = new Map(url.query);
    query.set('method', url.query.get('method')?.toUpperCase() ?? 'POST');
    return { ...url, query };
  },
} as const satisfies Partial<SchemeDefinition>;

/** Builds the form of such a kind. */
export function buildWebForm(about: Text): DestinationKind['form'] {
  const fields: FormFieldDefinition[] = [
    ...serverFields,
    textField('path', m.path, 'path', m.pathHelp),
    choiceField('method', m.method, 'query:method', [
      ['', 'POST'],
      ...methods.slice(1).map((each) => [each, each] as const),
    ]),
    userField,
    passwordField,
    secretField('authorization', m.authorizationHeader, 'header:Authorization', m.authorizationHeaderHelp),
    formatField,
  ];
  return { about, fields };
}

/** Returns the request method, address and headers, or a sentence about an invalid URL. */
export function parseWebTarget({
  url,
  origin,
}: Address):
  | { readonly method: WebMethod; readonly address: string; readonly headers: Readonly<Record<string, string>> }
  | string {
  const method = methods.find((each) => each === url.query.get('method'));
  if (method === undefined) return problems.argumentInvalid({ name: 'method', values: methods.join(', ') });
  const address = withQuery(`${origin}${url.rawPath.replaceAll('#', '%23')}`, Object.fromEntries(url.parameters));
  if (!URL.canParse(address)) return problems.addressHostOrPathInvalid();
  const authorization = basicAuthorization(url);
  const urlHeaders = [...url.headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    method,
    address,
    headers: { ...(authorization === undefined ? {} : { authorization }), ...Object.fromEntries(urlHeaders) },
  };
}

/**
 * Applies the `:name=value` arguments to the fields of the payload: renames them, removes them (empty value) or adds
 * others.
 */
export function renameFields<T>(
  payload: Readonly<Record<string, T>>,
  fields: DestinationUrl['fields'],
): Record<string, T | string> {
  const unchanged = Object.entries(payload).filter(([name]) => !fields.has(name));
  const renamed = [...fields].flatMap(([name, value]): (readonly [string, T | string])[] => {
    const field = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (field === undefined) return [[name, value]];
    return value === '' ? [] : [[value, field]];
  });
  return Object.fromEntries([...unchanged, ...renamed]);
}
