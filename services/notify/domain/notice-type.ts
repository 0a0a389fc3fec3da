import type { NoticeType } from '../../contracts/notify/notice.ts';
import type { Priority } from '../../contracts/push/topics.ts';
import type { z } from 'zod';

const aliases: Readonly<Record<string, NoticeType>> = {
  info: 'info',
  information: 'info',
  notice: 'info',
  debug: 'info',
  success: 'success',
  ok: 'success',
  up: 'success',
  resolved: 'success',
  recovered: 'success',
  warning: 'warning',
  warn: 'warning',
  pending: 'warning',
  nodata: 'warning',
  failure: 'failure',
  fail: 'failure',
  failed: 'failure',
  error: 'failure',
  critical: 'failure',
  danger: 'failure',
  down: 'failure',
  firing: 'failure',
  alerting: 'failure',
};

/** Reads a type as callers write it, in any case; undefined for a word that is none. */
export function parseNoticeType(word: string): NoticeType | undefined {
  const type = word.trim().toLowerCase();
  if (type === '') return 'info';
  return Object.hasOwn(aliases, type) ? aliases[type] : undefined;
}

/**
 * How loud a type is where a destination has priorities. 5 breaks through quiet hours everywhere, so nothing gets it
 * unless its destination URL says so.
 */
export function priorityOf(type: NoticeType): z.infer<typeof Priority> {
  return type === 'warning' || type === 'failure' ? 4 : 3;
}
