import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { findOwn } from '../../../contracts/find-own.ts';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { truncate } from '../../domain/text/split.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

const priorities: Readonly<Record<string, string>> = {
  emergency: 'P1',
  high: 'P2',
  normal: 'P3',
  moderate: 'P4',
  low: 'P5',
};
/** Priorities for URLs without one; successes get the lowest. */
const defaultPriorities: Readonly<Record<NotificationType, string>> = {
  info: 'P5',
  success: 'P5',
  warning: 'P3',
  failure: 'P3',
};

/** Parses `@user`, `#team`, `*schedule` or `^escalation`; a name without a prefix is a user. */
function parseResponder(target: string) {
  const name = target.replace(/^[@#*^]/, '');
  if (target.startsWith('#')) return { type: 'team', name };
  if (target.startsWith('*')) return { type: 'schedule', name };
  return target.startsWith('^') ? { type: 'escalation', name } : { type: 'user', username: name };
}

/** `opsgenie://api_key[/responder]`: an alert for each notification. */
export const opsgenieKind = defineScheme({
  service: 'Opsgenie',
  label: 'opsgenie',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['opsgenie'],
  templates: ['{schema}://{apikey}', '{schema}://{apikey}/{targets}', '{schema}://{user}@{apikey}/{targets}'],
  args: ['region', 'priority', 'entity', 'alias', 'tags'],
  titleLimit: 250,
  bodyLimit: 15_000,
  form: {
    about: m.opsgenieAbout,
    fields: [
      requiredField(secretField('key', m.apiKey, 'host', m.opsgenieKeyHelp)),
      textField('responders', m.responders, 'targets', m.opsgenieRespondersHelp),
      choiceField('region', m.region, 'query:region', [
        ['', m.unitedStates],
        ['eu', m.europe],
      ]),
      choiceField('priority', m.priority, 'query:priority', [
        ['', m.byType],
        ...Object.entries(priorities).map(([word, name]) => [word, name] as const),
      ]),
    ],
  },
  open({ url, targets, argument }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'opsgenie://api_key' });
    const requestedPriority = argument('priority')?.toLowerCase();
    const priority =
      requestedPriority === undefined
        ? undefined
        : (findOwn(priorities, requestedPriority) ?? /^p?([1-5])$/.exec(requestedPriority)?.[1]?.replace(/^/, 'P'));
    if (requestedPriority !== undefined && priority === undefined)
      return problems.argumentInvalid({ name: 'priority', values: Object.keys(priorities).join(', ') });
    const address = `https://api.${argument('region')?.toLowerCase() === 'eu' ? 'eu.' : ''}opsgenie.com/v2/alerts`;
    const identityFields = ['entity', 'alias'].flatMap((name) =>
      argument(name) === undefined ? [] : [[name, argument(name)]],
    );
    const tags = argument('tags')?.split(/[\s,]+/) ?? [];
    return ({ title, body, type, link }, { request }) =>
      request(
        postJson(
          address,
          {
            source: appTitle,
            // A message is limited to 130 characters (https://docs.opsgenie.com/docs/alert-api).
            message: truncate(title === '' ? body : title, 130),
            description: body,
            details: { type, link },
            priority: priority ?? defaultPriorities[type],
            ...(targets.length === 0 ? {} : { responders: targets.map(parseResponder) }),
            ...(tags.length === 0 ? {} : { tags }),
            ...Object.fromEntries(identityFields),
          },
          { authorization: `GenieKey ${url.host}` },
        ),
      );
  },
});
