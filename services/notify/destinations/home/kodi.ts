import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { readJson } from '../exchange.ts';
import { passwordField, serverFields, textField, userField } from '../fields.ts';
import { basicAuthorization, postJson } from '../http.ts';
import { defineScheme } from '../scheme.ts';

const icons: Readonly<Record<NotificationType, string>> = {
  info: 'info',
  success: 'info',
  warning: 'warning',
  failure: 'error',
};
const Reply = z.object({ error: z.object({ message: z.string() }) });
/** Maximum number of lines in a popup of Kodi. */
const maxLines = 2;

/** `kodi://[user:password@]host[:8080]?duration=12`: a popup on a television; also `xbmc://`. */
export const kodiKind = defineScheme({
  service: 'Kodi/XBMC',
  label: 'kodi',
  handlesLink: true,
  protocols: ['kodi', 'xbmc'],
  secureProtocols: ['kodis', 'xbmcs'],
  templates: ['{schema}://{host}', '{schema}://{host}:{port}', '{schema}://{user}:{password}@{host}:{port}'],
  args: ['duration'],
  titleLimit: 250,
  bodyLimit: 32_768,
  normalize: (url) => ({ ...url, port: url.port ?? (/s$/.test(url.scheme) ? undefined : 8080) }),
  form: {
    about: m.kodiAbout,
    fields: [
      ...serverFields,
      userField,
      passwordField,
      textField('duration', m.displaySeconds, 'query:duration', m.displaySecondsHelp),
    ],
  },
  open({ url, origin, argument }) {
    const seconds = Number(argument('duration') ?? 12);
    if (!Number.isFinite(seconds) || seconds <= 0 || seconds > 3600)
      return problems.argumentNotANumber({ name: 'duration' });
    const authorization = basicAuthorization(url);
    return async ({ title, body, type }, { request, fail }) => {
      const message = body
        .split(/\r?\n/)
        .filter((line) => line.trim() !== '')
        .slice(0, maxLines)
        .join('\r\n');
      const params = { title, message, displaytime: seconds * 1000 };
      const rpcCall = { jsonrpc: '2.0', method: 'GUI.ShowNotification', params, id: 1, type: icons[type] };
      const httpRequest = postJson(`${origin}/jsonrpc`, rpcCall, authorization === undefined ? {} : { authorization });
      const failure = readJson(await request(httpRequest), Reply);
      return failure === undefined ? undefined : fail(failure.error.message);
    };
  },
});
