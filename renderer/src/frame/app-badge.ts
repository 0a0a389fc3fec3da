import { bridge } from '../state/bridge.ts';

/**
 * Shows the number of unread messages on the icon of the installed page; 0 removes it. Browsers without badges, and
 * pages that are not installed, show none. The desktop app marks its own icon.
 */
export function setAppBadge(unread: number): void {
  if (bridge !== undefined || !('setAppBadge' in navigator)) return;
  const change = unread > 0 ? navigator.setAppBadge(unread) : navigator.clearAppBadge();
  // Refused for pages that are not installed.
  change.catch(() => undefined);
}
