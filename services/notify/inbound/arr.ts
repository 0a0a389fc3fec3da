import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';
import { joinTexts, toLines, buildLinkLine, type InboundAdapter, type InboundNotification } from './adapter.ts';

function episodeNumbers(payload: Payload): string {
  const padTwo = (value: number | undefined): string => String(value ?? 0).padStart(2, '0');
  const episodes = payload.list('episodes');
  const [first] = episodes;
  if (first === undefined) return '';
  const season = first.number('seasonNumber');
  const numbers = episodes.slice(0, 10).map((episode) => `E${padTwo(episode.number('episodeNumber'))}`);
  return `S${padTwo(season)}${numbers.join('')}${episodes.length > 10 ? '…' : ''}`;
}

/** Formats the subject: a film, episodes of a series, albums of an artist, or books of an author. */
function formatSubject(payload: Payload): string {
  if (payload.has('series')) return joinTexts(' ', payload.text('series.title'), episodeNumbers(payload));
  const film = payload.has('movie') ? 'movie' : 'remoteMovie';
  if (payload.has(film)) {
    const year = payload.text(`${film}.year`);
    return joinTexts(' ', payload.text(`${film}.title`), year === '' || year === '0' ? '' : `(${year})`);
  }
  const works = [...payload.list('albums'), ...payload.list('books'), payload.object('album'), payload.object('book')];
  const titles = works.map((work) => work.text('title')).filter((title) => title !== '');
  const creator =
    payload.text('artist.name') ||
    payload.text('artist.artistName') ||
    payload.text('author.name') ||
    payload.text('author.authorName');
  return joinTexts(' – ', creator, [...new Set(titles)].slice(0, 5).join(', ')) || payload.text('release.releaseTitle');
}

function findQuality(payload: Payload): string {
  const paths = ['episodeFile', 'movieFile', 'bookFile', 'release'];
  const fileQuality = paths.map((path) => payload.text(`${path}.quality`)).find((quality) => quality !== '');
  return fileQuality ?? payload.list('trackFiles')[0]?.text('quality') ?? '';
}

/** Returns the reasons why a download needs its user. */
function statusMessages(payload: Payload): readonly string[] {
  const messages = payload.list('downloadStatusMessages').flatMap((status) => {
    const listed: unknown = status.value('messages');
    const texts = (Array.isArray(listed) ? listed : []).filter((text) => typeof text === 'string');
    return texts.length > 0 ? texts : [status.text('title')];
  });
  return [...new Set(messages)].slice(0, 20);
}

function formatDetails(payload: Payload): InboundNotification['lines'] {
  const titles = payload
    .list('episodes')
    .map((episode) => episode.text('title'))
    .filter((title) => title !== '');
  const quality = findQuality(payload);
  const path = ['episodeFile.relativePath', 'movieFile.relativePath', 'release.releaseTitle']
    .map((path) => payload.text(path))
    .find((text) => text !== '');
  return [
    [
      joinTexts(
        ' ',
        titles.slice(0, 5).join(', '),
        quality === '' ? '' : titles.length === 0 ? quality : `(${quality})`,
      ),
    ],
    [path ?? ''],
    [
      joinTexts(
        ', ',
        payload.text('release.indexer') && `from ${payload.text('release.indexer')}`,
        payload.text('downloadClient') && `by ${payload.text('downloadClient')}`,
      ),
    ],
    ...toLines(payload.lines('message')),
    ...statusMessages(payload).map((text) => [text]),
  ].filter((line) => line.some((piece) => piece !== ''));
}

const events: Readonly<Record<string, readonly [label: string, type: NotificationType]>> = {
  grab: ['grabbed', 'info'],
  download: ['imported', 'success'],
  importcomplete: ['imported', 'success'],
  albumdownload: ['imported', 'success'],
  rename: ['renamed', 'info'],
  retag: ['retagged', 'info'],
  trackretag: ['retagged', 'info'],
  bookretag: ['retagged', 'info'],
  seriesadd: ['added', 'info'],
  movieadded: ['added', 'info'],
  artistadd: ['added', 'info'],
  authoradded: ['added', 'info'],
  seriesdelete: ['removed', 'warning'],
  moviedelete: ['removed', 'warning'],
  artistdelete: ['removed', 'warning'],
  albumdelete: ['removed', 'warning'],
  authordelete: ['removed', 'warning'],
  bookdelete: ['removed', 'warning'],
  episodefiledelete: ['deleted the file of', 'warning'],
  moviefiledelete: ['deleted the file of', 'warning'],
  bookfiledelete: ['deleted the file of', 'warning'],
  downloadfailure: ['failed to download', 'failure'],
  importfailure: ['failed to import', 'failure'],
  manualinteractionrequired: ['needs you for', 'warning'],
};

const levels: Readonly<Record<string, NotificationType>> = {
  ok: 'success',
  notice: 'info',
  warning: 'warning',
  error: 'failure',
};

/** Adapter for Sonarr, Radarr, Lidarr, Readarr, Prowlarr and Whisparr, which share a webhook format. */
export const arr: InboundAdapter = {
  name: 'Media library',
  matches: (payload) =>
    payload.text('eventType') !== '' &&
    (payload.has('instanceName') || ['series', 'movie', 'artist', 'author'].some((name) => payload.has(name))),
  parse(payload) {
    const event = payload.text('eventType').toLowerCase();
    const program = payload.has('series')
      ? 'Sonarr'
      : payload.has('movie')
        ? 'Radarr'
        : payload.has('artist')
          ? 'Lidarr'
          : payload.has('author')
            ? 'Readarr'
            : (payload.text('instanceName').split(/\W/)[0] ?? '');
    const instance = payload.text('instanceName') || program;
    const link = payload.link('applicationUrl');
    const buildNotification = (
      verb: string,
      type: NotificationType,
      lines: InboundNotification['lines'],
    ): InboundNotification => ({
      title: `${instance}: ${verb}`,
      type,
      lines,
      link,
      source: program.toLowerCase(),
    });
    if (event === 'test')
      return buildNotification('test', 'info', [['This is a test.'], ...toLines(payload.lines('message'))]);
    if (event === 'health' || event === 'healthissue' || event === 'healthrestored') {
      const restored = event === 'healthrestored';
      const level = payload.text('level').toLowerCase();
      const action = restored ? 'health restored' : joinTexts(' ', 'health', level);
      return {
        ...buildNotification(action, restored ? 'success' : (findOwn(levels, level) ?? 'warning'), [
          ...toLines(payload.lines('message')),
          ...buildLinkLine('Help', payload.link('wikiUrl')),
        ]),
        link: payload.link('wikiUrl') ?? link,
      };
    }
    if (event === 'applicationupdate') {
      const versions = joinTexts(' to ', payload.text('previousVersion'), payload.text('newVersion'));
      return buildNotification('updated', 'info', [[versions], ...toLines(payload.lines('message'))]);
    }
    const [eventLabel, type] = findOwn(events, event) ?? [payload.text('eventType'), 'info' as const];
    const upgraded = payload.isTrue('isUpgrade') && eventLabel === 'imported' ? 'upgraded' : eventLabel;
    return buildNotification(joinTexts(' ', upgraded, formatSubject(payload)), type, formatDetails(payload));
  },
};
