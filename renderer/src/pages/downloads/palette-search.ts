import * as m from '#messages/downloads';
import { downloadsApi } from '../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../services/contracts/downloads/download-name.ts';
import { call } from '../../api/call.ts';
import { type PaletteSearch, type SearchResult } from '../../state/palette-search.ts';
import { containsTerms } from '../../state/search-text.ts';

/** Searches downloads by title and offers to pause or resume the queue. */
const searchDownloads: PaletteSearch = async (query, signal) => {
  const { queue, history, paused } = await call(downloadsApi.list, { query: { q: query, limit: 5 }, signal });
  const queued = queue.filter(({ title }) => containsTerms(title, query)).slice(0, 5);
  const action: SearchResult = paused
    ? {
        id: 'downloads-resume',
        title: m.resumeDownloads(),
        icon: 'play',
        run: async () => void (await call(downloadsApi.resume, { body: {} })),
      }
    : {
        id: 'downloads-pause',
        title: m.pauseDownloads(),
        icon: 'pause',
        run: async () => void (await call(downloadsApi.pause, { body: {} })),
      };
  return [
    { title: m.actions(), results: containsTerms(action.title, query) ? [action] : [] },
    {
      title: m.downloads(),
      results: [...queued, ...history].map((download) => ({
        id: `download-${download.uid}`,
        title: getDownloadName(download),
        icon: 'download' as const,
        to: `/downloads/queue/${download.uid}`,
      })),
    },
  ];
};

export default (): PaletteSearch => searchDownloads;
