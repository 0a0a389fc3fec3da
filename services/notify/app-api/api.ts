import type { ApiHandler } from '../../contracts/api.ts';
import { ShownUrls } from '../keys/masked-urls.ts';
import { History } from '../store/history.ts';
import type { ApiParts } from './dependencies.ts';
import { keyHandlers } from './keys.ts';
import { noticeHandlers } from './notifications.ts';
import { statisticsHandlers } from './statistics.ts';

/** The service's part of our own API. */
export function notifyHandlers(parts: ApiParts): readonly ApiHandler[] {
  const history = new History(parts.context.reads, new ShownUrls(parts.context.vault), parts.index);
  return [...keyHandlers(parts), ...noticeHandlers(parts, history), ...statisticsHandlers(parts)];
}
