import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { encodeFiles, fileParts, formatPartName } from '../files.ts';
import {
  choiceField,
  requiredField,
  passwordField,
  secretField,
  serverFields,
  textField,
  userField,
} from '../fields.ts';
import { basicAuthorization, postForm, postJson, postParts, type HttpRequest } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart } from '../url.ts';

/** `apprise://[user:password@]host[:port]/[path/]key?tags=`: a key of another aggregator, such as Apprise API. */
export const appriseKind = defineScheme({
  service: 'Apprise API',
  label: 'apprise',
  protocols: ['apprise'],
  secureProtocols: ['apprises'],
  templates: [
    '{schema}://{host}/{token}',
    '{schema}://{host}:{port}/{token}',
    '{schema}://{user}:{password}@{host}/{token}',
  ],
  args: ['tags', 'method'],
  files: true,
  filesOnly: true,
  overflow: 'upstream',
  titleLimit: 250,
  bodyLimit: 32_768,
  readSeconds: 30,
  form: {
    about: m.appriseAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('key', m.key, 'last', m.appriseKeyHelp)),
      textField('tags', m.tags, 'query:tags', m.appriseTagsHelp),
      choiceField('method', m.sendMode, 'query:method', [
        ['', m.asForm],
        ['json', 'JSON'],
      ]),
      userField,
      passwordField,
    ],
  },
  open({ url, origin, options, argument }) {
    const key = url.path.at(-1);
    if (key === undefined || !/^[A-Za-z0-9_-]{1,128}$/.test(key))
      return problems.addressIncomplete({ example: 'apprise://host/key' });
    const address = `${origin}${url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('')}/notify/${key}`;
    const authorization = basicAuthorization(url);
    const tags = argument('tags');
    const usesJson = argument('method')?.toLowerCase() === 'json';
    return async ({ id, title, body, type, attachments = [], hops = 0 }, { request, boundary, fail }) => {
      const headers = {
        'x-apprise-id': id,
        'x-apprise-recursion-count': String(hops + 1),
        accept: 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
        ...Object.fromEntries([...url.headers].map(([name, value]) => [name.toLowerCase(), value])),
      };
      const fields = { title, body, type, format: options.format, tag: tags };
      const buildRequest = async (): Promise<HttpRequest> => {
        if (usesJson) {
          const files = await encodeFiles(attachments);
          return postJson(address, { ...fields, ...(files.length === 0 ? {} : { attachments: files }) }, headers);
        }
        if (attachments.length === 0) return postForm(address, fields, headers);
        return postParts(address, fields, await fileParts(attachments, formatPartName), boundary(), headers);
      };
      const { status } = await request(await buildRequest());
      // Only 200 means success; 204 means that the key does not exist.
      if (status === 204) fail('there is no such key', false, 'unknown_key');
      if (status !== 200) fail(`status ${String(status)}`);
    };
  },
});
