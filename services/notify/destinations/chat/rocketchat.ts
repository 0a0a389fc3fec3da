import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import { markdownHeading } from '../../domain/fit-message.ts';
import { readJson } from '../exchange.ts';
import { requiredField, passwordField, serverFields, textField } from '../fields.ts';
import { postForm, postJson } from '../http.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import { parseDestinationUrl, type DestinationUrl } from '../url.ts';

const Login = z.object({ data: z.object({ authToken: z.string(), userId: z.string() }) });
const Reply = z.object({ success: z.literal(false), error: z.string().catch('') });

/** Normalizes `rocket://a/b@host/#chan`, in which the slash of the webhook ends the host. */
function normalizeWebhookUrl(url: DestinationUrl): DestinationUrl {
  const userIndex = url.path.findIndex((segment) => segment.includes('@'));
  if (url.user !== undefined || userIndex !== 0) return url;
  const [hook = '', serverPart = ''] = (url.path[0] ?? '').split(/@(?=[^@]*$)/);
  const server = parseDestinationUrl(`x://${serverPart}`);
  const hidden = withPath({ ...url, host: server?.host ?? '', port: server?.port }, url.path.slice(1));
  return { ...hidden, user: `${url.host}/${hook}` };
}

function isHook({ user, password }: DestinationUrl): boolean {
  return password === undefined && user?.includes('/') === true;
}

/**
 * `rocket://hook/token@host/#channel` by webhook, `rocket://user:password@host/#channel` by an account, `?mode=token`
 * with the ID and token of an account.
 */
export const rocketKind = defineScheme({
  service: 'Rocket.Chat',
  label: 'rocket',
  protocols: ['rocket'],
  secureProtocols: ['rockets'],
  templates: [
    '{schema}://{user}:{password}@{host}/{targets}',
    '{schema}://{webhook}@{host}',
    '{schema}://{webhook}@{host}:{port}/{targets}',
  ],
  args: ['mode'],
  format: 'markdown',
  titleLimit: 0,
  bodyLimit: 1000,
  overflow: 'split',
  heading: markdownHeading,
  perTarget: true,
  normalize: normalizeWebhookUrl,
  form: {
    about: m.rocketChatAbout,
    secretLocations: (url) => (isHook(url) ? ['user'] : ['password']),
    fields: [
      ...serverFields,
      requiredField(textField('user', m.user, 'user', m.rocketChatUserHelp)),
      passwordField,
      textField('targets', m.recipients, 'targets', m.rocketChatRecipientsHelp),
    ],
  },
  open({ url, origin, targets, argument }) {
    const [target] = targets;
    const channel = target !== undefined && /^[#@]/.test(target) ? { channel: target } : {};
    if (isHook(url)) {
      const hook = (url.user ?? '').split('/').map(encodeURIComponent).join('/');
      const room = target === undefined ? {} : { channel: target };
      return async ({ body }, { request, fail }) => {
        const error = readJson(await request(postJson(`${origin}/hooks/${hook}`, { text: body, ...room })), Reply);
        return error === undefined ? undefined : fail(error.error);
      };
    }
    if (!url.user || !url.password)
      return problems.addressIncomplete({ example: 'rocket://user:password@host/#channel' });
    if (target === undefined) return problems.addressIncomplete({ example: 'rocket://user:password@host/#channel' });
    const api = `${origin}/api/v1`;
    const recipient = 'channel' in channel ? channel : { roomId: target };
    const usesToken = argument('mode')?.toLowerCase() === 'token';
    return async ({ body }, { request, tryRequest, fail, once }) => {
      const login = usesToken
        ? { authToken: url.password ?? '', userId: url.user ?? '' }
        : readJson(await request(postForm(`${api}/login`, { username: url.user, password: url.password })), Login)
            ?.data;
      if (login === undefined) return fail('something that is no answer of Rocket.Chat', false, 'unexpected_reply');
      const headers = { 'x-auth-token': login.authToken, 'x-user-id': login.userId };
      try {
        await once('text', async () => {
          const reply = await request(postJson(`${api}/chat.postMessage`, { text: body, ...recipient }, headers));
          const error = readJson(reply, Reply);
          if (error !== undefined) fail(error.error);
        });
      } finally {
        if (!usesToken) await tryRequest({ method: 'POST', url: `${api}/logout`, headers });
      }
      return undefined;
    };
  },
});
