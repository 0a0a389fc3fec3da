import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { choiceField, requiredField, secretField, serverFields } from '../fields.ts';
import { postJson } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart } from '../url.ts';

/** Priorities by their names in Apprise. */
const priorities: Readonly<Record<string, number>> = { low: 0, moderate: 3, normal: 5, high: 8, emergency: 10 };

function parsePriority(text: string): number | undefined {
  const word = text.toLowerCase();
  if (/^\d{1,2}$/.test(word)) return Number(word) <= 10 ? Number(word) : undefined;
  return Object.entries(priorities).find(([name]) => name.startsWith(word))?.[1];
}

/** `gotify://host[:port]/[path/]token?priority=`. */
export const gotifyKind = defineScheme({
  service: 'Gotify',
  label: 'gotify',
  handlesLink: true,
  protocols: ['gotify'],
  secureProtocols: ['gotifys'],
  templates: ['{schema}://{host}/{token}', '{schema}://{host}:{port}/{token}', '{schema}://{host}{path}{token}'],
  args: ['priority'],
  titleLimit: 250,
  bodyLimit: 32_768,
  overflow: 'upstream',
  form: {
    about: m.gotifyAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('token', m.applicationToken, 'last', m.gotifyTokenHelp)),
      choiceField('priority', m.priority, 'query:priority', [
        ['', m.normal],
        ['low', m.low],
        ['moderate', m.moderate],
        ['high', m.high],
        ['emergency', m.emergency],
      ]),
    ],
  },
  open({ url, origin, options, argument }) {
    const token = url.path.at(-1);
    if (token === undefined) return problems.addressIncomplete({ example: 'gotify://host/token' });
    const priority = parsePriority(argument('priority') ?? 'normal');
    if (priority === undefined)
      return problems.argumentInvalid({
        name: 'priority',
        values: problems.priorityRange({ values: Object.keys(priorities).join(', ') }),
      });
    const address = `${origin}${url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('')}/message`;
    const markdownDisplay = { 'client::display': { contentType: 'text/markdown' } };
    return ({ title, body, link }, { request }) => {
      const extras = {
        ...(options.format === 'markdown' ? markdownDisplay : {}),
        // Address that opens with the notification (https://gotify.net/docs/msgextras).
        ...(link === undefined ? {} : { 'client::notification': { click: { url: link } } }),
      };
      const extrasField = Object.keys(extras).length === 0 ? {} : { extras };
      return request(postJson(address, { priority, title, message: body, ...extrasField }, { 'x-gotify-key': token }));
    };
  },
});
