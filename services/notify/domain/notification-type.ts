import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Priority } from '../../contracts/push/topics.ts';
import type { z } from 'zod';

/** Names that programs use for notification types. */
const aliasWords: Readonly<Record<NotificationType, string>> = {
  info:
    'info information informational notice debug trace verbose unknown none default normal low minimal neutral ' +
    'started running test',
  success:
    'success successful succeeded ok okay up resolved recovered recovery passed pass good healthy done completed',
  warning: 'warning warn pending nodata no_data degraded medium moderate minor attention unstable paused late grace',
  failure:
    'failure fail failed failing error err errored critical crit danger down firing alerting alert fatal panic ' +
    'emergency emerg severe high major urgent disaster bad unhealthy problem exception',
};

const aliases: ReadonlyMap<string, NotificationType> = new Map(
  (['info', 'success', 'warning', 'failure'] as const).flatMap((type) =>
    aliasWords[type].split(' ').map((word) => [word, type] as const),
  ),
);

/** Parses the name of a type, case-insensitive. Returns undefined for an unknown one. */
export function parseNotificationType(word: string): NotificationType | undefined {
  const type = word.trim().toLowerCase();
  if (type === '') return 'info';
  return aliases.get(type);
}

/**
 * Returns the priority for a type. Priority 5 passes quiet hours everywhere, so it is only used if the destination
 * URL requests it.
 */
export function getPriority(type: NotificationType): z.infer<typeof Priority> {
  return type === 'warning' || type === 'failure' ? 4 : 3;
}
