import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import type { Attachment } from '../../domain/message.ts';
import { readJson, type Exchange } from '../exchange.ts';
import { untypedParts } from '../files.ts';
import { secretField, switchField, textField } from '../fields.ts';
import { postJson, postParts, withQuery, type HttpRequest } from '../http.ts';
import { isYes } from '../options.ts';
import { appTitle, getColor } from '../colors.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import type { DestinationUrl } from '../url.ts';
import { escapeMarkup } from '../../../kit/escape-html.ts';

const Reply = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  upload_url: z.string().optional(),
  file_id: z.string().optional(),
});
/** Temporary errors (https://docs.slack.dev/reference/methods/chat.postMessage#errors). */
const temporaryErrors = /^(ratelimited|rate_limited|internal_error|service_unavailable|request_timeout|fatal_error)$/;

function isBot({ host }: DestinationUrl): boolean {
  return /^xox[a-z.]+-/i.test(host);
}

/** Calls the web API of Slack, which answers with status 200 even for failures. */
async function callApi({ request, fail }: Exchange, httpRequest: HttpRequest): Promise<z.infer<typeof Reply>> {
  const reply = readJson(await request(httpRequest), Reply);
  if (reply?.ok === true) return reply;
  if (reply?.error === undefined) return fail('something that is no answer of Slack', false, 'unexpected_reply');
  return fail(reply.error, temporaryErrors.test(reply.error));
}

async function upload(exchange: Exchange, file: Attachment, channel: string, authorization: string): Promise<void> {
  const api = 'https://slack.com/api';
  const url = withQuery(`${api}/files.getUploadURLExternal`, { filename: file.name, length: file.size });
  const uploadTarget = await callApi(exchange, { method: 'GET', url, headers: { authorization } });
  if (uploadTarget.upload_url === undefined || uploadTarget.file_id === undefined)
    exchange.fail('no place for a file', false, 'unexpected_reply');
  const formParts = await untypedParts([file], () => 'file');
  await exchange.request({
    ...postParts(uploadTarget.upload_url ?? '', {}, formParts, exchange.boundary(), { authorization }),
    untrusted: true,
  });
  const files = [{ id: uploadTarget.file_id, title: file.name }];
  await callApi(
    exchange,
    postJson(`${api}/files.completeUploadExternal`, { files, channel_id: channel }, { authorization }),
  );
}

/** `slack://[name@]A/B/C/#channel` for a webhook, `slack://xoxb-…/#channel` for a bot, which also sends files. */
export const slackKind = defineScheme({
  service: 'Slack',
  label: 'slack',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['slack'],
  templates: [
    '{schema}://{token_a}/{token_b}/{token_c}',
    '{schema}://{token_a}/{token_b}/{token_c}/{targets}',
    '{schema}://{access_token}/{targets}',
  ],
  args: ['footer', 'timestamp'],
  movedArguments: ['bot'],
  files: true,
  format: 'markdown',
  dialect: { text: 'slack', markdown: 'slack', html: 'slack' },
  titleLimit: 250,
  bodyLimit: 35_000,
  overflow: 'split',
  perTarget: true,
  form: {
    about: m.slackAbout,
    fixedSegments: (url) => (isBot(url) ? 0 : 2),
    secretLocations: (url) => (isBot(url) ? ['host'] : ['host', 'segment:0', 'segment:1']),
    unfold: (url) =>
      isBot(url)
        ? { ...withPath(url, ['', '', ...url.path]), host: '', query: new Map([...url.query, ['bot', url.host]]) }
        : url,
    fold(url) {
      const query = new Map(url.query);
      query.delete('bot');
      const usesBot = url.query.get('bot') ?? '';
      return usesBot === '' ? url : { ...withPath({ ...url, query }, url.path.slice(2)), host: usesBot };
    },
    fields: [
      secretField('bot', m.botToken, 'query:bot', m.slackBotTokenHelp),
      secretField('a', m.webhookFirstPart, 'host', m.webhookFirstPartHelp),
      secretField('b', m.webhookSecondPart, 'segment:0', m.webhookSecondPartHelp),
      secretField('c', m.webhookThirdPart, 'segment:1', m.webhookThirdPartHelp),
      textField('channels', m.channels, 'targets', m.slackChannelsHelp),
      textField('name', m.displayName, 'user'),
      switchField('footer', m.appNameBelow, 'query:footer'),
    ],
  },
  open({ url, targets, options, argument }) {
    const usesBot = isBot(url);
    if (!usesBot && (url.host === '' || url.path.length < 2))
      return problems.addressIncomplete({ example: 'slack://A/B/C/#channel or slack://xoxb-…/#channel' });
    const webhookPath = [url.host, ...url.path.slice(0, 2)].map(encodeURIComponent).join('/');
    const address = usesBot
      ? 'https://slack.com/api/chat.postMessage'
      : `https://hooks.slack.com/services/${webhookPath}`;
    const authorization = `Bearer ${url.host}`;
    const channel = targets[0] ?? (usesBot ? '#general' : undefined);
    const footer = isYes(argument('footer'), true) ? { footer: appTitle } : {};
    return async ({ title, body, type, time, link, attachments = [] }, exchange) => {
      const titleLink = link === undefined || title === '' ? {} : { title_link: link };
      const timestamp = isYes(argument('timestamp'), true) ? { ts: Math.floor(time / 1000) } : {};
      const httpRequest = postJson(
        address,
        {
          ...(url.user === undefined ? {} : { username: url.user }),
          mrkdwn: options.format !== 'text',
          attachments: [
            { title: escapeMarkup(title), ...titleLink, text: body, color: getColor(type), ...footer, ...timestamp },
          ],
          // `+C012345` is the ID of a channel, not its name.
          ...(channel === undefined ? {} : { channel: channel.replace(/^\+/, '') }),
        },
        usesBot ? { authorization } : {},
      );
      if (!usesBot) return exchange.request(httpRequest);
      // Files are uploaded to a channel ID, which only the reply contains.
      const postedMessage = await exchange.once('text', async () => (await callApi(exchange, httpRequest)).channel);
      for (const [index, file] of attachments.entries()) {
        await exchange.once(`file ${String(index)}`, () =>
          upload(exchange, file, postedMessage || (channel ?? ''), authorization),
        );
      }
      return undefined;
    };
  },
});
