import type { Message } from '../../domain/message.ts';
import { fileParts } from '../files.ts';
import { choiceField, needed, secretField, switchField, textField } from '../fields.ts';
import { postJson, postParts, withQuery } from '../http.ts';
import { isYes } from '../options.ts';
import { appTitle, colourNumber } from '../colors.ts';
import { defineScheme, type Send } from '../scheme.ts';

/** Files in one message (https://docs.discord.com/developers/resources/webhook). */
const mostFiles = 10;

/** Who may be called by a message: those the URL names. Words of the notice call nobody. */
function mentions(ping: string | undefined) {
  const ids = (mark: RegExp): string[] => [...(ping ?? '').matchAll(mark)].map(([, id = '']) => id);
  return {
    parse: /@(here|everyone)/.test(ping ?? '') ? ['everyone'] : [],
    users: ids(/<@!?(\d+)>/g),
    roles: ids(/<@&(\d+)>/g),
  };
}

/** The card of a message; its title links to `href`. */
function embed({ title, body, type }: Message, { footer, href }: { footer?: object; href: string | undefined }) {
  const link = href === undefined ? {} : { url: href };
  const bottom = footer === undefined ? {} : { footer };
  return { title, description: body, color: colourNumber(type), ...link, ...bottom };
}

/** `discord://[name@]webhook_id/webhook_token?thread=&tts=&ping=&footer=`; as Markdown it is shown in a coloured card. */
export const discordKind = defineScheme({
  service: 'Discord',
  label: 'discord',
  protocols: [],
  secureProtocols: ['discord'],
  templates: ['{schema}://{webhook_id}/{webhook_token}', '{schema}://{botname}@{webhook_id}/{webhook_token}'],
  args: ['tts', 'footer', 'thread', 'ping', 'avatar_url', 'href'],
  files: true,
  wordless: true,
  titleLimit: 250,
  bodyLimit: 2000,
  titleCounts: true,
  overflow: 'split',
  form: {
    about: 'A channel of a Discord server, by its webhook.',
    fixed: 1,
    fields: [
      needed(secretField('id', 'Webhook ID', 'host', 'The number in the address of the webhook.')),
      needed(secretField('token', 'Webhook token', 'segment:0', 'What follows the number in the address.')),
      textField('name', 'Shown name', 'user', 'Empty: the name of the webhook.'),
      textField('thread', 'Thread', 'query:thread', 'The ID of a thread of the channel.'),
      textField('picture', 'Picture', 'query:avatar_url', 'The address of a picture beside the name.'),
      textField('link', 'Link', 'query:href', 'Where the title of a card leads to.'),
      textField('ping', 'Calls', 'query:ping', 'Such as @here or <@1234>.'),
      switchField('tts', 'Read aloud', 'query:tts'),
      choiceField('format', 'Format', 'query:format', [
        ['', 'Plain text'],
        ['markdown', 'Markdown in a card'],
      ]),
    ],
  },
  moved: ['url'],
  arrange(url) {
    const query = new Map(url.query);
    const link = query.get('url');
    query.delete('url');
    if (link !== undefined && !query.has('href')) query.set('href', link);
    return { ...url, query };
  },
  open({ url, options, argument }) {
    const [token] = url.path;
    if (url.host === '' || token === undefined) return 'a webhook is missing: discord://webhook_id/webhook_token';
    const hook = `https://discord.com/api/webhooks/${encodeURIComponent(url.host)}/${encodeURIComponent(token)}`;
    const address = withQuery(hook, { thread_id: argument('thread') });
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
    const card = options.format !== 'text' || hasFooter;
    const call = ping === undefined ? '' : `👉 ${ping}`;
    const send: Send = async (message, { ask, boundary, once }) => {
      const { title, body, attachments = [] } = message;
      const text = [call, title, body].filter((part) => part !== '').join('\r\n');
      const shown = card
        ? { ...(call === '' ? {} : { content: call }), embeds: [embed(message, { ...footer, href })] }
        : { content: text };
      const words = postJson(address, { tts, wait: !tts, ...name, allowed_mentions: mentions(ping), ...shown });
      if (text !== '') await once('text', () => ask(words));
      for (let at = 0; at < attachments.length; at += mostFiles) {
        await once(`files ${String(at)}`, async () => {
          const files = await fileParts(attachments.slice(at, at + mostFiles), (part) => `files[${part}]`);
          const payload = JSON.stringify({ tts: false, wait: true, ...name });
          await ask(postParts(address, { payload_json: payload }, files, boundary()));
        });
      }
    };
    return { send, taken: card || call === '' ? 0 : call.length + 2 };
  },
});
