import { downloadsApi } from '../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../services/contracts/downloads/download-name.ts';
import { call } from '../../api/call.ts';
import { containsTerms, type PaletteSearch, type SearchResult } from '../../state/palette-search.ts';

/** Films and other downloads by their titles, and the whole queue to be paused. */
const find: PaletteSearch = async (words, signal) => {
  const { queue, history, paused } = await call(downloadsApi.list, { query: { q: words, limit: 5 }, signal });
  const waiting = queue.filter(({ title }) => containsTerms(title, words)).slice(0, 5);
  const steer: SearchResult = paused
    ? {
        id: 'downloads-resume',
        title: 'Resume downloads',
        icon: 'play',
        run: async () => void (await call(downloadsApi.resume, { body: {} })),
      }
    : {
        id: 'downloads-pause',
        title: 'Pause downloads',
        icon: 'pause',
        run: async () => void (await call(downloadsApi.pause, { body: {} })),
      };
  return [
    { title: 'Actions', results: containsTerms(steer.title, words) ? [steer] : [] },
    {
      title: 'Downloads',
      results: [...waiting, ...history].map((download) => ({
        id: `download-${download.uid}`,
        title: getDownloadName(download),
        icon: 'download' as const,
        to: `/downloads/queue/${download.uid}`,
      })),
    },
  ];
};

export default (): PaletteSearch => find;
