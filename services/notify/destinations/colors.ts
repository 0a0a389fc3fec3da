import type { NotificationType } from '../../contracts/notify/notification.ts';

const colors: Readonly<Record<NotificationType, string>> = {
  info: '#3AA3E3',
  success: '#3AA337',
  warning: '#CACF29',
  failure: '#A32037',
};

/** The colour of a kind of notice, as `#RRGGBB`. */
export function getColor(type: NotificationType): string {
  return colors[type];
}

/** The same as a number. */
export function getColorNumber(type: NotificationType): number {
  return parseInt(colors[type].slice(1), 16);
}

/** What a notice is called where a service wants a title and has none. */
export const appTitle = 'Homeport';
