import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import type { Message } from '../../domain/message.ts';
import { fileParts } from '../files.ts';
import { choiceField, requiredField, secretField, switchField, textField } from '../fields.ts';
import { postJson, postParts, withQuery } from '../http.ts';
import { isYes } from '../options.ts';
import { appTitle, getColorNumber } from '../colors.ts';
import { defineScheme, type Send } from '../scheme.ts';

/** Maximum number of files in one message (https://docs.discord.com/developers/resources/webhook). */
const maxFiles = 10;

/** Allows only the mentions of the URL. Mentions in the text of a notification have no effect. */
function buildAllowedMentions(ping: string | undefined) {
  const ids = (mark: RegExp): string[] => [...(ping ?? '').matchAll(mark)].map(([, id = '']) => id);
  return {
    parse: /@(here|everyone)/.test(ping ?? '') ? ['everyone'] : [],
    users: ids(/<@!?(\d+)>/g),
    roles: ids(/<@&(\d+)>/g),
  };
}

/** Builds the embed of a message; its title links to `href`. */
function buildEmbed({ title, body, type }: Message, { footer, href }: { footer?: object; href: string | undefined }) {
  const link = href === undefined ? {} : { url: href };
  const footerField = footer === undefined ? {} : { footer };
  return { title, description: body, color: getColorNumber(type), ...link, ...footerField };
}

/** `discord://[name@]webhook_id/webhook_token?thread=&tts=&ping=&footer=`; Markdown is shown in a colored embed. */
export const discordKind = defineScheme({
  service: 'Discord',
  label: 'discord',
  protocols: [],
  secureProtocols: ['discord'],
  templates: ['{schema}://{webhook_id}/{webhook_token}', '{schema}://{botname}@{webhook_id}/{webhook_token}'],
  args: ['tts', 'footer', 'thread', 'ping', 'avatar_url', 'href'],
  files: true,
  filesOnly: true,
  titleLimit: 250,
  bodyLimit: 2000,
  titleCounts: true,
  overflow: 'split',
  form: {
    about: m.discordAbout,
    fixedSegments: 1,
    fields: [
      requiredField(secretField('id', m.webhookId, 'host', m.discordWebhookIdHelp)),
      requiredField(secretField('token', m.webhookToken, 'segment:0', m.discordWebhookTokenHelp)),
      textField('name', m.displayName, 'user', m.webhookNameHelp),
      textField('thread', m.thread, 'query:thread', m.discordThreadHelp),
      textField('picture', m.picture, 'query:avatar_url', m.pictureHelp),
      textField('link', m.link, 'query:href', m.discordLinkHelp),
      textField('ping', m.calls, 'query:ping', m.discordMentionsHelp),
      switchField('tts', m.readAloud, 'query:tts'),
      choiceField('format', m.format, 'query:format', [
        ['', m.plainText],
        ['markdown', m.markdownCard],
      ]),
    ],
  },
  movedArguments: ['url'],
  normalize(url) {
    const query = new Map(url.query);
    const link = query.get('url');
    query.delete('url');
    if (link !== undefined && !query.has('href')) query.set('href', link);
    return { ...url, query };
  },
  open({ url, options, argument }) {
    const [token] = url.path;
    if (url.host === '' || token === undefined)
      return problems.addressIncomplete({ example: 'discord://webhook_id/webhook_token' });
    const webhookUrl = `https://discord.com/api/webhooks/${encodeURIComponent(url.host)}/${encodeURIComponent(token)}`;
    const address = withQuery(webhookUrl, { thread_id: argument('thread') });
    const tts = isYes(argument('tts'), false);
    const hasFooter = isYes(argument('footer'), false);
    const footer = hasFooter ? { footer: { text: appTitle } } : {};
    const href = argument('href');
    const picture = argument('avatar_url');
    const ping = argument('ping');
    const name = {
      ...(url.user === undefined || url.user === '' ? {} : { username: url.user }),
      ...(picture === undefined ? {} : { avatar_url: picture }),
    };
    const usesEmbed = options.format !== 'text' || hasFooter;
    const mentionText = ping === undefined ? '' : `👉 ${ping}`;
    const send: Send = async (message, { request, boundary, once }) => {
      const { title, body, attachments = [] } = message;
      const text = [mentionText, title, body].filter((part) => part !== '').join('\r\n');
      const content = usesEmbed
        ? {
            ...(mentionText === '' ? {} : { content: mentionText }),
            embeds: [buildEmbed(message, { ...footer, href })],
          }
        : { content: text };
      const textRequest = postJson(address, {
        tts,
        wait: !tts,
        ...name,
        allowed_mentions: buildAllowedMentions(ping),
        ...content,
      });
      if (text !== '') await once('text', () => request(textRequest));
      for (let index = 0; index < attachments.length; index += maxFiles) {
        await once(`files ${String(index)}`, async () => {
          const files = await fileParts(attachments.slice(index, index + maxFiles), (part) => `files[${part}]`);
          const payload = JSON.stringify({ tts: false, wait: true, ...name });
          await request(postParts(address, { payload_json: payload }, files, boundary()));
        });
      }
    };
    return { send, reservedLength: usesEmbed || mentionText === '' ? 0 : mentionText.length + 2 };
  },
});
