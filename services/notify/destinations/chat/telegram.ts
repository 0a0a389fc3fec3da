import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { fits } from '../../domain/text/split.ts';
import { untypedParts } from '../files.ts';
import { choiceField, requiredField, secretField, switchField, textField } from '../fields.ts';
import { postJson, postParts } from '../http.ts';
import { isYes } from '../options.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import { escapeMarkup } from '../../../kit/escape-html.ts';

/** Maximum length of the caption of a file (https://core.telegram.org/bots/api#sendphoto), in characters. */
const maxCaptionLength = 1024;

/** Returns the method for a file and the name of its form field. */
function getMethod(type: string): readonly [method: string, field: string] {
  if (type === 'image/gif') return ['sendAnimation', 'animation'];
  if (/^image\/(png|jpeg|webp)$/.test(type)) return ['sendPhoto', 'photo'];
  if (type === 'video/mp4') return ['sendVideo', 'video'];
  if (/^audio\/(mpeg|mp4|x-m4a)$/.test(type)) return ['sendAudio', 'audio'];
  return ['sendDocument', 'document'];
}

/** `tgram://bot_token/chat[:topic]`: chats by number or `@name`. */
export const telegramKind = defineScheme({
  service: 'Telegram',
  label: 'tgram',
  protocols: [],
  secureProtocols: ['tgram'],
  templates: ['{schema}://{bot_token}/{targets}', '{schema}://{bot_token}/:{topic}/{targets}'],
  args: ['silent', 'preview', 'content'],
  movedArguments: ['topic', 'thread'],
  files: true,
  filesOnly: true,
  format: 'html',
  dialect: { text: 'telegram', markdown: 'telegram', html: 'telegram' },
  titleLimit: 0,
  bodyLimit: 4096,
  overflow: 'split',
  heading: (title) => `<b>${escapeMarkup(title)}</b>\n`,
  perTarget: true,
  form: {
    about: m.telegramAbout,
    fields: [
      requiredField(secretField('token', m.botToken, 'host', m.telegramBotTokenHelp)),
      requiredField(textField('chats', m.chats, 'targets', m.telegramChatsHelp)),
      switchField('silent', m.withoutSound, 'query:silent'),
      switchField('preview', m.linkPreviews, 'query:preview'),
      choiceField('content', m.captionPosition, 'query:content', [
        ['', m.captionAbove],
        ['after', m.captionBelow],
      ]),
    ],
  },
  normalize(url) {
    const query = new Map(url.query);
    const topic = query.get('topic') ?? query.get('thread');
    query.delete('topic');
    query.delete('thread');
    const path =
      topic === undefined ? url.path : url.path.map((chat) => (chat.includes(':') ? chat : `${chat}:${topic}`));
    return withPath({ ...url, query, host: url.host.replace(/^bot/i, '') }, path);
  },
  open({ url, targets, argument }) {
    if (!/^\d+:[\w-]+$/.test(url.host)) return problems.addressIncomplete({ example: 'tgram://123456789:token/chat' });
    const [chat, topic] = targets[0]?.split(':') ?? [];
    if (chat === undefined) return problems.addressIncomplete({ example: 'tgram://token/chat' });
    if (topic !== undefined && !/^\d+$/.test(topic))
      return problems.telegramTopicInvalid({ example: 'tgram://token/chat:7' });
    const api = `https://api.telegram.org/bot${url.host}`;
    const isNumericId = /^-?\d{1,15}$/.test(chat);
    const silent = isYes(argument('silent'), false);
    const chatFields = {
      chat_id: isNumericId ? Number(chat) : `@${chat.replace(/^@/, '')}`,
      ...(topic === undefined ? {} : { message_thread_id: Number(topic) }),
    };
    return async ({ body, attachments = [] }, { request, boundary, once }) => {
      const text = body.replace(/\r?\n/g, '\r\n');
      const asCaption = attachments.length > 0 && fits(text, maxCaptionLength);
      if (!asCaption && text !== '') {
        const message = postJson(`${api}/sendMessage`, {
          disable_notification: silent,
          disable_web_page_preview: !isYes(argument('preview'), false),
          parse_mode: 'HTML',
          text,
          ...chatFields,
        });
        await once('text', () => request(message));
      }
      for (const [index, file] of attachments.entries()) {
        const [method, field] = getMethod(file.type);
        const hasCaption = asCaption && index === 0 && text !== '';
        const pairs = {
          caption: hasCaption ? text : undefined,
          show_caption_above_media: hasCaption && argument('content') !== 'after' ? 'True' : undefined,
          parse_mode: hasCaption ? 'HTML' : undefined,
          disable_notification: silent ? 'True' : undefined,
          title: file.name,
          ...chatFields,
        };
        await once(`file ${String(index)}`, async () => {
          const formParts = await untypedParts([file], () => field);
          await request(postParts(`${api}/${method}`, pairs, formParts, boundary()));
        });
      }
    };
  },
});
