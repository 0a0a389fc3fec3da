import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import type { Attachment, Message } from '../../domain/message.ts';
import { convertText } from '../../domain/text/convert.ts';
import { readJson, type Exchange } from '../exchange.ts';
import { choiceField, formatField, passwordField, serverFields, textField } from '../fields.ts';
import { postJson, withQuery } from '../http.ts';
import { appTitle, getColor } from '../colors.ts';
import { defineScheme, type Address, type Send } from '../scheme.ts';
import type { DestinationUrl } from '../url.ts';
import { escapeMarkup } from '../../../kit/escape-html.ts';

const Login = z.object({
  access_token: z.string(),
  user_id: z.string().optional(),
  home_server: z.string().optional(),
});
const Rooms = z.object({ joined_rooms: z.array(z.string()) });
const Room = z.object({ room_id: z.string() });
const Upload = z.object({ content_uri: z.string() });

type Mode = 'off' | 'slack' | 'matrix' | 't2bot';

/** Returns the mode of a URL. A token without a user is a webhook of the public bridge, as in Apprise. */
function parseMode({ query, host, user, password, path }: DestinationUrl): Mode | undefined {
  const modeText = query.get('mode')?.toLowerCase() ?? '';
  if (modeText === '') return /^\w{64}$/.test(host) && !user && !password && path.length === 0 ? 't2bot' : 'off';
  return (['off', 'slack', 'matrix', 't2bot'] as const).find((mode) => mode === modeText);
}

/** Builds the event with the body as text, and formatted if the URL requests it. */
function buildEvent({ title, body, format }: Message, msgtype: string) {
  if (format === 'text') return { msgtype, body: title === '' ? body : `# ${title}\r\n${body}` };
  const heading = title === '' ? '' : `<h1>${escapeMarkup(title)}</h1>`;
  const plainText = convertText(body, format, 'text');
  const formatted_body = `${heading}${convertText(body, format, 'html')}`;
  return {
    msgtype,
    body: [title, plainText].filter(Boolean).join('\n'),
    format: 'org.matrix.custom.html',
    formatted_body,
  };
}

function fileKind(type: string): string {
  const family = ['image', 'audio', 'video'].find((each) => type.startsWith(`${each}/`));
  return `m.${family ?? 'file'}`;
}

async function uploadFile({ request, fail }: Exchange, base: string, file: Attachment, authorization: string) {
  const url = withQuery(`${base}/_matrix/media/v3/upload`, { filename: file.name });
  const headers = { authorization, 'content-type': file.type };
  const reply = readJson(await request({ method: 'POST', url, headers, body: await file.read() }), Upload);
  if (reply === undefined) return fail('no place for a file', false, 'unexpected_reply');
  const info = { mimetype: file.type, size: file.size };
  return { body: file.name, info, msgtype: fileKind(file.type), url: reply.content_uri };
}

/** Sends as a member: signs in if there is no token, joins the rooms, and signs out again. */
function sendToServer({ url, origin, targets, argument }: Address): Send | string {
  const token = url.password === undefined || url.user === '' ? url.user || url.password : undefined;
  if (token === undefined && !url.user)
    return problems.addressIncomplete({ example: 'matrix://user:password@host/#room' });
  const api = `${origin}/_matrix/client/v3`;
  const msgtype = argument('msgtype')?.toLowerCase() === 'notice' ? 'm.notice' : 'm.text';

  /** Sends to all rooms with the credentials of the login. */
  const sendToRooms = async (message: Message, exchange: Exchange, login: z.infer<typeof Login>): Promise<void> => {
    const { request, fail } = exchange;
    const authorization = `Bearer ${login.access_token}`;
    const homeServer = login.home_server ?? login.user_id?.replace(/^[^:]*:/, '') ?? url.host;
    const files = [];
    for (const file of message.attachments ?? []) files.push(await uploadFile(exchange, origin, file, authorization));
    const aliases = targets.map((target) => {
      const room = /^[#!]/.test(target) ? target : `#${target}`;
      // IDs of newer rooms have no server part.
      return room.includes(':') || room.startsWith('!') ? room : `${room}:${homeServer}`;
    });
    const joined =
      aliases.length > 0
        ? []
        : (readJson(await request({ method: 'GET', url: `${api}/joined_rooms`, headers: { authorization } }), Rooms)
            ?.joined_rooms ?? []);
    const rooms = [...aliases, ...joined];
    if (rooms.length === 0) fail('this account is a member of no room', false, 'no_room');
    for (const alias of rooms) {
      const joinRequest = postJson(`${api}/join/${encodeURIComponent(alias)}`, {}, { authorization });
      const room = readJson(await request(joinRequest), Room)?.room_id ?? alias;
      // The transaction ID contains the notification's ID, so the server ignores repetitions.
      const events = [...files, buildEvent(message, msgtype)];
      for (const [index, event] of events.entries()) {
        const address = `${api}/rooms/${encodeURIComponent(room)}/send/m.room.message/${message.id}-${index}`;
        const putRequest = { ...postJson(address, event, { authorization }), method: 'PUT' };
        await exchange.once(`${room} ${String(index)}`, () => request(putRequest));
      }
    }
  };

  return async (message, exchange) => {
    if (token !== undefined) return sendToRooms(message, exchange, { access_token: token });
    const signIn = {
      type: 'm.login.password',
      identifier: { type: 'm.id.user', user: url.user },
      password: url.password,
      initial_device_display_name: appTitle,
    };
    const login = readJson(await exchange.request(postJson(`${api}/login`, signIn)), Login);
    if (login === undefined)
      return exchange.fail('something that is no answer of a Matrix server', false, 'unexpected_reply');
    try {
      return await sendToRooms(message, exchange, login);
    } finally {
      // Without the sign-out, each attempt would leave a device in the account.
      const authorization = `Bearer ${login.access_token}`;
      await exchange.tryRequest(postJson(`${api}/logout`, {}, { authorization }));
    }
  };
}

/** Sends through a webhook bridge. */
function sendToWebhook({ url, origin }: Address, mode: Exclude<Mode, 'off'>): Send | string {
  const token = mode === 't2bot' ? url.host : (url.password ?? url.user);
  if (!token) return problems.addressIncomplete({ example: 'matrix://name:token@host/?mode=matrix' });
  const base = mode === 't2bot' ? 'https://webhooks.t2bot.io' : origin;
  const address = `${base}/api/v1/matrix/hook/${encodeURIComponent(token)}`;
  const name = mode !== 't2bot' && url.user !== undefined && url.password !== undefined ? url.user : appTitle;
  return ({ title, body, type, format, time }, { request }) => {
    if (mode === 'slack') {
      const attachment = {
        title: escapeMarkup(title),
        text: escapeMarkup(body),
        color: getColor(type),
        footer: appTitle,
      };
      const attachments = [{ ...attachment, ts: Math.floor(time / 1000) }];
      return request(postJson(address, { username: name, mrkdwn: format === 'markdown', attachments }));
    }
    const html = format === 'text' ? undefined : convertText(body, format, 'html');
    const textParts = html === undefined ? [title, body] : [escapeMarkup(title), html];
    const text = textParts.filter((part) => part !== '').join(html === undefined ? '\r\n' : '<br/>');
    return request(postJson(address, { displayName: name, format: html === undefined ? 'plain' : 'html', text }));
  };
}

/** `matrix://user:password@host/#room` or `matrix://token@host/!room:host`; `?mode=` for webhook bridges. */
export const matrixKind = defineScheme({
  service: 'Matrix',
  label: 'matrix',
  protocols: ['matrix'],
  secureProtocols: ['matrixs'],
  templates: [
    '{schema}://{token}@{host}/{targets}',
    '{schema}://{user}:{password}@{host}/{targets}',
    '{schema}://{user}:{token}@{host}:{port}/',
    '{schema}://{token}',
  ],
  args: ['mode', 'msgtype'],
  files: true,
  titleLimit: 250,
  // An event is limited to 65,536 bytes (https://spec.matrix.org/latest/client-server-api/#size-limits) and often
  // contains the text twice.
  bodyLimit: 20_000,
  unit: 'bytes',
  overflow: 'split',
  form: {
    about: m.matrixAbout,
    secretLocations: (url) =>
      parseMode(url) === 't2bot' ? ['host'] : url.password === undefined ? ['user', 'password'] : ['password'],
    fields: [
      ...serverFields,
      textField('user', m.userOrToken, 'user', m.userOrTokenHelp),
      passwordField,
      textField('rooms', m.rooms, 'targets', m.matrixRoomsHelp),
      choiceField('mode', m.sendMode, 'query:mode', [
        ['', m.asMember],
        ['matrix', m.webhookBridge],
        ['slack', m.slackBridge],
      ]),
      formatField,
    ],
  },
  open(address) {
    const mode = parseMode(address.url);
    if (mode === undefined) return problems.argumentInvalid({ name: 'mode', values: 'off, matrix, slack, t2bot' });
    return mode === 'off' ? sendToServer(address) : sendToWebhook(address, mode);
  },
});
