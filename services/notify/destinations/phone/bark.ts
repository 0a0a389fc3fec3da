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
    about: 'iPhones with the app Bark, through its server or one of your own.',
    fields: [
      ...serverFields,
      requiredField(secretField('keys', 'Keys of devices', 'targets', 'Shown in the app. Commas between several.')),
      choiceField('level', 'Importance', 'query:level', [
        ['', 'Normal'],
        ['timeSensitive', 'Shown also in focus'],
        ['passive', 'Silent'],
        ['critical', 'Critical: always heard'],
      ]),
      textField('sound', 'Sound', 'query:sound', 'Such as alarm, bell or minuet.'),
      textField('group', 'Group', 'query:group'),
      userField,
      passwordField,
    ],
  },
  open({ url, origin, targets, options, argument }) {
    const [key] = targets;
    if (key === undefined) return 'the key of a device is missing: bark://host/key';
    const requestedLevel = argument('level')?.toLowerCase();
    const level = levels.find((each) => each.toLowerCase() === requestedLevel);
    if (requestedLevel !== undefined && level === undefined) return `level must be one of ${levels.join(', ')}`;
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
