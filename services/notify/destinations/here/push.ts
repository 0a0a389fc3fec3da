import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { findOwn } from '../../../contracts/find-own.ts';
import type { TextFormat } from '../../../contracts/notify/notification.ts';
import { htmlToText } from '../../../kit/plain-text.ts';
import { Priority, pushOffered, TopicName } from '../../../contracts/push/topics.ts';
import type { Message } from '../../domain/message.ts';
import { getPriority } from '../../domain/notification-type.ts';
import { convertText } from '../../domain/text/convert.ts';
import type { DestinationKind } from '../destination.ts';
import { parseOptions } from '../options.ts';
import { toErrorResult } from '../result.ts';

const priorityNames: Readonly<Record<string, number>> = { min: 1, low: 2, default: 3, high: 4, max: 5, urgent: 5 };

/** Converts the body. A push message often replaces reading the mail, so its plain text includes link addresses. */
function convertBody(outputFormat: TextFormat, { body, format }: Message): string {
  return format === 'html' && outputFormat === 'text'
    ? htmlToText(body, { links: true })
    : convertText(body, format, outputFormat);
}

/** Appends the names of files that are not sent; a push message has only one. */
function appendFileNames(text: string, priorityNames: readonly string[]): string {
  if (priorityNames.length === 0) return text;
  return `${text}\n\n[${priorityNames.length === 1 ? 'attachment' : 'attachments'}: ${priorityNames.slice(0, 10).join(', ')}]`;
}

/** `push://topic[?priority=1…5]`: Homeport's push server, in process, without HTTP. */
export const pushKind: DestinationKind = {
  service: 'Push',
  label: 'push',
  files: true,
  protocols: ['push'],
  secureProtocols: [],
  templates: ['{schema}://{topic}'],
  args: ['priority'],
  form: {
    about: m.topicAbout,
    fields: [
      { name: 'topic', label: m.topic, kind: 'text', location: 'host', required: true },
      {
        name: 'priority',
        label: m.priority,
        kind: 'choice',
        location: 'query:priority',
        help: m.topicPriorityHelp,
        choices: [
          ['', m.byType],
          ['1', m.lowest],
          ['2', m.low],
          ['3', m.normal],
          ['4', m.high],
          ['5', m.urgent],
        ],
      },
    ],
  },
  parse(url) {
    const topic = TopicName.safeParse(url.host);
    if (!topic.success || url.path.length > 0) return problems.topicAddressInvalid();
    const requestedPriority = url.query.get('priority')?.toLowerCase();
    const priority = Priority.optional().safeParse(
      requestedPriority === undefined
        ? undefined
        : (findOwn(priorityNames, requestedPriority) ?? Number(requestedPriority)),
    );
    if (!priority.success) return problems.argumentInvalid({ name: 'priority', values: '1–5' });
    const options = parseOptions(url);
    if (typeof options === 'string') return options;
    const urlArguments = [
      ...(priority.data === undefined ? [] : [`priority=${priority.data}`]),
      ...options.nonDefault.filter((each) => each.startsWith('emojis=')),
    ];
    // Subscribers show plain text unless the message is marked as Markdown.
    const format = options.format === 'html' ? 'text' : options.format;
    return {
      service: 'Push',
      optional: options.optional,
      emojis: options.emojis,
      url: () => `push://${topic.data}${urlArguments.length === 0 ? '' : `?${urlArguments.join('&')}`}`,
      async send(notification, { handovers }) {
        // The push server truncates long messages and passes the complete text to the inbox.
        const message = { ...notification, body: convertBody(format, notification), format };
        // A push message has one file.
        const [file, ...otherFiles] = notification.attachments ?? [];
        try {
          await handovers.pass(pushOffered, `${message.id}:${topic.data}`, {
            topic: topic.data,
            title: message.title,
            message: appendFileNames(
              message.body === '' ? message.title : message.body,
              otherFiles.map(({ name }) => name),
            ),
            priority: priority.data ?? getPriority(message.type),
            tags: [...message.tags],
            ...(message.link === undefined ? {} : { click: message.link }),
            ...(file === undefined
              ? {}
              : { file: { name: file.name, type: file.type, bytes: Uint8Array.from(await file.read()) } }),
            markdown: message.format === 'markdown',
            source: message.source,
            origin: message.id,
          });
          return { ok: true, detail: 'Sent Push notification.' };
        } catch (error) {
          return toErrorResult(error, `Failed to publish to the topic ${topic.data}`, 'publish_failed');
        }
      },
    };
  },
};
