import type { Item } from '../../../services/downloads/domain/item.ts';
import { defaultOrderOptions } from '../../../services/downloads/domain/order.ts';

/** Video that is being downloaded. */
export const anItem: Item = {
  ...{ uid: 'a', url: 'http://a/a', state: 'downloading', title: 'A', videoId: 'a', liveStatus: null, playlist: null },
  order: {
    ...{ type: 'video', codec: 'auto', format: 'mp4', quality: 'best', folder: null, prefix: '', itemLimit: 0 },
    ...{ autoStart: true, login: null, ...defaultOrderOptions },
  },
  ...{ probed: true, attempts: 1, message: null, filename: null, size: null, addedNs: '1795227620292055459' },
  ...{ createdAt: 1_795_227_620_292, finishedAt: null, thumbnail: null },
};
