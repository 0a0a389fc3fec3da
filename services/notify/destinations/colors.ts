import type { NotificationType } from '../../contracts/notify/notification.ts';

const colors: Readonly<Record<NotificationType, string>> = {
  info: '#3AA3E3',
  success: '#3AA337',
  warning: '#CACF29',
  failure: '#A32037',
};

/** Returns the color of a notification type as `#RRGGBB`. */
export function getColor(type: NotificationType): string {
  return colors[type];
}

/** Returns the color as a number. */
export function getColorNumber(type: NotificationType): number {
  return parseInt(colors[type].slice(1), 16);
}

/** Title of a notification without one, for services that require it. */
export const appTitle = 'Homeport';
