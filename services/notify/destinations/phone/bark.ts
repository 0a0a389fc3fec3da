import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import { readJson } from '../exchange.ts';
import { basicAuthorization, postJson } from '../http.ts';
import {
  choiceField,
  requiredField,
  passwordField,
  secretField,
  serverFields,
  textField,
  userField,
} from '../fields.ts';
import { appTitle } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

/** Reply with a status code of its own; some releases report failures only there. */
const Reply = z.object({ code: z.number(), message: z.string().catch('no reason') });
const levels = ['active', 'timeSensitive', 'passive', 'critical'];

/** `bark://host[:port]/device_key[/device_key]`: iPhones with Bark. */
export const barkKind = defineScheme({
  service: 'Bark',
  label: 'bark',
  handlesLink: true,
  protocols: ['bark'],
  secureProtocols: ['barks'],
  templates: [
    '{schema}://{host}/{targets}',
    '{schema}://{host}:{port}/{targets}',
    '{schema}://{user}:{password}@{host}/{targets}',
  ],
  args: ['sound', 'level', 'volume', 'click', 'badge', 'category', 'group', 'icon', 'call'],
  titleLimit: 250,
  // Apple accepts 4096 bytes, and the server reports a longer message as a temporary failure.
  bodyLimit: 3000,
  unit: 'bytes',
  perTarget: true,
  form: {
    about: m.barkAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('keys', m.deviceKeys, 'targets', m.barkKeysHelp)),
      choiceField('level', m.importance, 'query:level', [
        ['', m.normal],
        ['timeSensitive', m.timeSensitive],
        ['passive', m.silent],
        ['critical', m.critical],
      ]),
      textField('sound', m.sound, 'query:sound', m.barkSoundHelp),
      textField('group', m.group, 'query:group'),
      userField,
      passwordField,
    ],
  },
  open({ url, origin, targets, options, argument }) {
    const [key] = targets;
    if (key === undefined) return problems.addressIncomplete({ example: 'bark://host/key' });
    const requestedLevel = argument('level')?.toLowerCase();
    const level = levels.find((each) => each.toLowerCase() === requestedLevel);
    if (requestedLevel !== undefined && level === undefined)
      return problems.argumentInvalid({ name: 'level', values: levels.join(', ') });
    const authorization = basicAuthorization(url);
    const names = ['sound', 'volume', 'badge', 'category', 'group', 'icon', 'call'];
    const optionalFields = names.flatMap((name) => (argument(name) === undefined ? [] : [[name, argument(name)]]));
    return async ({ title, body, link }, { request, fail }) => {
      const click = argument('click') ?? link;
      const bodyField = options.format === 'markdown' ? { markdown: body } : { body };
      const payload = {
        device_key: key,
        title: title === '' ? appTitle : title,
        ...bodyField,
        ...(level === undefined ? {} : { level }),
        ...(click === undefined ? {} : { url: click }),
        ...Object.fromEntries(optionalFields),
      };
      const headers = authorization === undefined ? {} : { authorization };
      const reply = readJson(await request(postJson(`${origin}/push`, payload, headers)), Reply);
      if (reply !== undefined && reply.code !== 200) fail(reply.message, reply.code === 429 || reply.code >= 500);
    };
  },
});
