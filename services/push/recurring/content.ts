import type { z } from 'zod';
import { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Draft } from '../domain/message.ts';

/** What a schedule publishes, besides its topic. */
const Content = ScheduleForm.pick({
  title: true,
  message: true,
  priority: true,
  tags: true,
  click: true,
  markdown: true,
});
export type Content = z.infer<typeof Content>;

/** As it is kept. */
export function contentText(form: Content): string {
  return JSON.stringify(Content.parse(form));
}

export function readContent(text: string): Content {
  return Content.parse(JSON.parse(text));
}

/** The message of one run. */
export function draftOfRun(topic: string, { click, ...content }: Content): Draft {
  return {
    event: 'message',
    topic,
    ...content,
    ...(click === undefined ? {} : { click }),
    cached: true,
    inbox: { source: 'push', body: content.message },
  };
}
