import type { z } from 'zod';
import { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Draft } from '../domain/message.ts';

/** Content of a recurring message, without its topic. */
const Content = ScheduleForm.pick({
  title: true,
  message: true,
  priority: true,
  tags: true,
  click: true,
  markdown: true,
});
export type Content = z.infer<typeof Content>;

/** Serializes the content for storage. */
export function serializeContent(form: Content): string {
  return JSON.stringify(Content.parse(form));
}

export function readContent(text: string): Content {
  return Content.parse(JSON.parse(text));
}

/** Builds the message of one run. */
export function toDraft(topic: string, { click, ...content }: Content): Draft {
  return {
    event: 'message',
    topic,
    ...content,
    ...(click === undefined ? {} : { click }),
    cached: true,
    inbox: { source: 'push', body: content.message },
  };
}
