import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import { readJson } from '../exchange.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import { encodeFiles } from '../files.ts';
import { postForm, postJson, withQuery } from '../http.ts';
import { appTitle, getColor } from '../colors.ts';
import { defineScheme } from '../scheme.ts';

/** Parses one of the five priorities of Apprise to the number of the service. */
function parseStep(word: string | undefined, steps: Readonly<Record<string, number>>): number | undefined {
  const stepText = word?.toLowerCase() ?? 'normal';
  if (Object.values(steps).some((step) => String(step) === stepText)) return Number(stepText);
  return Object.entries(steps).find(([name]) => name.startsWith(stepText))?.[1];
}

const steps: Readonly<Record<string, number>> = { low: -2, moderate: -1, normal: 0, high: 1, emergency: 2 };
const getInvalidPriority = (): string =>
  problems.argumentInvalid({ name: 'priority', values: Object.keys(steps).join(', ') });
const priorityField = choiceField('priority', m.priority, 'query:priority', [
  ['', m.normal],
  ['low', m.lowest],
  ['moderate', m.low],
  ['high', m.high],
  ['emergency', m.emergency],
]);

/** `prowl://api_key[/provider_key]`: iPhones with Prowl. */
export const prowlKind = defineScheme({
  service: 'Prowl',
  label: 'prowl',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['prowl'],
  templates: ['{schema}://{apikey}', '{schema}://{apikey}/{providerkey}'],
  args: ['priority'],
  titleLimit: 1024,
  bodyLimit: 10_000,
  form: {
    about: m.prowlAbout,
    fixedSegments: 1,
    fields: [
      requiredField(secretField('key', m.apiKey, 'host', m.prowlKeyHelp)),
      secretField('provider', m.providerKey, 'segment:0', m.providerKeyHelp),
      priorityField,
    ],
  },
  open({ url, argument }) {
    const priority = parseStep(argument('priority'), steps);
    if (url.host === '') return problems.addressIncomplete({ example: 'prowl://api_key' });
    if (priority === undefined) return getInvalidPriority();
    return ({ title, body, link }, { request }) =>
      request(
        postForm('https://api.prowlapp.com/publicapi/add', {
          apikey: url.host,
          providerkey: url.path[0],
          application: appTitle,
          event: title,
          description: body,
          priority,
          url: link,
        }),
      );
  },
});

/** Error replies that have status 200. */
const JoinReply = z.object({ success: z.literal(false), errorMessage: z.string().catch('no reason') });
const SimplePushReply = z.object({ status: z.string(), message: z.string().optional().catch(undefined) });
/** https://www.pushsafer.com/en/pushapi#api-response */
const PushsaferReply = z.object({ status: z.number(), error: z.string().optional().catch(undefined) });

/** `join://api_key/device[/device]`: Android devices with Join; `group.all` is all of them. */
export const joinKind = defineScheme({
  service: 'Join',
  label: 'join',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['join'],
  templates: ['{schema}://{apikey}/{targets}'],
  args: ['priority'],
  titleLimit: 250,
  bodyLimit: 1000,
  perTarget: true,
  form: {
    about: m.joinAbout,
    fields: [
      requiredField(secretField('key', m.apiKey, 'host', m.joinKeyHelp)),
      textField('devices', m.devices, 'targets', m.joinDevicesHelp),
      priorityField,
    ],
  },
  open({ url, targets, argument }) {
    const priority = parseStep(argument('priority'), steps);
    if (url.host === '') return problems.addressIncomplete({ example: 'join://api_key/device' });
    if (priority === undefined) return getInvalidPriority();
    const device = targets[0] ?? 'group.all';
    const isId = /^(group\.\w+|[0-9a-f]{32})$/i.test(device);
    const deviceField = isId ? { deviceId: device } : { deviceNames: device };
    const api = 'https://joinjoaomgcd.appspot.com/_ah/api/messaging/v1/sendPush';
    return async ({ title, body, link }, { request, fail }) => {
      const address = withQuery(api, { apikey: url.host, priority, title, text: body, ...deviceField, url: link });
      const failure = readJson(await request({ method: 'POST', url: address, headers: {} }), JoinReply);
      return failure === undefined ? undefined : fail(failure.errorMessage);
    };
  },
});

/**
 * `ifttt://webhook_id@event[/event]`: applets with a web request as trigger; title, body and type are their three
 * values.
 */
export const iftttKind = defineScheme({
  service: 'IFTTT',
  label: 'ifttt',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['ifttt'],
  templates: ['{schema}://{webhook_id}/{events}', '{schema}://{webhook_id}@{events}'],
  titleLimit: 250,
  bodyLimit: 32_768,
  perTarget: true,
  // The first event is in the place of the host.
  normalize(url) {
    if (url.user !== undefined) return url;
    const [firstEvent = '', ...more] = url.path;
    return {
      ...url,
      user: url.host,
      host: firstEvent,
      path: more,
      rawPath: more.map((each) => `/${encodeURIComponent(each)}`).join(''),
    };
  },
  form: {
    about: m.iftttAbout,
    fields: [
      requiredField(secretField('key', m.webhookKey, 'user', m.iftttKeyHelp)),
      requiredField(textField('event', m.event, 'host')),
    ],
  },
  open({ url, targets }) {
    if (!url.user || url.host === '') return problems.addressIncomplete({ example: 'ifttt://webhook_id@event' });
    const events = [url.host, ...targets];
    return async ({ title, body, type }, { request, once }) => {
      for (const event of events) {
        const address = `https://maker.ifttt.com/trigger/${encodeURIComponent(event)}/with/key/${encodeURIComponent(url.user ?? '')}`;
        await once(event, () => request(postJson(address, { value1: title, value2: body, value3: type })));
      }
    };
  },
});

/** `spush://key[?event=]`: phones with SimplePush, without its own encryption. */
export const simplePushKind = defineScheme({
  service: 'SimplePush',
  label: 'spush',
  protocols: [],
  secureProtocols: ['spush'],
  templates: ['{schema}://{apikey}'],
  args: ['event'],
  titleLimit: 1024,
  bodyLimit: 10_000,
  form: {
    about: m.simplePushAbout,
    fields: [
      requiredField(secretField('key', m.key, 'host', m.shownInAppHelp)),
      textField('event', m.event, 'query:event', m.simplePushEventHelp),
    ],
  },
  open({ url, argument }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'spush://key' });
    if (url.password !== undefined) return problems.encryptionUnsupported();
    return async ({ title, body }, { request, fail }) => {
      const pairs = { key: url.host, msg: body, title, event: argument('event') };
      const reply = readJson(await request(postForm('https://api.simplepush.io/send', pairs)), SimplePushReply);
      const isAccepted = reply === undefined || reply.status.toUpperCase() === 'OK';
      return isAccepted ? undefined : fail(reply.message ?? reply.status);
    };
  },
});

/** Apprise sends icon 25, and all devices by default. */
const defaultIcon = 25;
/** Form fields for the pictures of a message. */
const pictureFields = ['p', 'p2', 'p3'];

/** `psafer://private_key[/device]`: phones and browsers with Pushsafer, including pictures. */
export const pushsaferKind = defineScheme({
  service: 'Pushsafer',
  label: 'psafer',
  handlesLink: true,
  protocols: ['psafer'],
  secureProtocols: ['psafers'],
  templates: ['{schema}://{privatekey}', '{schema}://{privatekey}/{targets}'],
  args: ['priority', 'sound', 'vibration'],
  files: true,
  titleLimit: 250,
  bodyLimit: 32_768,
  perTarget: true,
  form: {
    about: m.pushsaferAbout,
    fields: [
      requiredField(secretField('key', m.privateKey, 'host', m.pushsaferKeyHelp)),
      textField('devices', m.devices, 'targets', m.pushsaferDevicesHelp),
      priorityField,
    ],
  },
  open({ url, targets, argument }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'psafer://private_key' });
    const priority = argument('priority') === undefined ? undefined : parseStep(argument('priority'), steps);
    if (priority === undefined && argument('priority') !== undefined) return getInvalidPriority();
    return async ({ title, body, type, link, attachments = [] }, { request, fail }) => {
      const pictures = await encodeFiles(
        attachments.filter((file) => file.type.startsWith('image/')).slice(0, pictureFields.length),
      );
      const files = pictures.map(({ base64, mimetype }, index) => [
        pictureFields[index],
        `data:${mimetype};base64,${base64}`,
      ]);
      const reply = await request(
        postForm('https://www.pushsafer.com/api', {
          t: title,
          m: body,
          i: defaultIcon,
          c: getColor(type),
          d: targets[0] ?? 'a',
          pr: priority,
          u: link,
          s: argument('sound'),
          v: argument('vibration'),
          ...(Object.fromEntries(files) as Record<string, string>),
          k: url.host,
        }),
      );
      const failure = readJson(reply, PushsaferReply);
      if (failure !== undefined && failure.status !== 1) fail(failure.error ?? `status ${String(failure.status)}`);
    };
  },
});
