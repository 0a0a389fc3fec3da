import * as m from '#messages/notify-inbound';
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

/** Formats where a release comes from, as far as it is known. */
function formatOrigin(indexer: string, client: string): string {
  if (client === '') return indexer === '' ? '' : m.fromIndexer({ indexer });
  return indexer === '' ? m.byClient({ client }) : m.fromIndexerByClient({ indexer, client });
}

/** Formats the versions of an update; one of them can be missing. */
function formatVersions(previous: string, next: string): string {
  return previous === '' || next === '' ? previous || next : m.versionChange({ previous, next });
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
    [formatOrigin(payload.text('release.indexer'), payload.text('downloadClient'))],
    ...toLines(payload.lines('message')),
    ...statusMessages(payload).map((text) => [text]),
  ].filter((line) => line.some((piece) => piece !== ''));
}

/** Events of the message `mediaEvent`, by their name in payloads in lower case. */
const events: Readonly<Record<string, readonly [event: string, type: NotificationType]>> = {
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
  episodefiledelete: ['file_deleted', 'warning'],
  moviefiledelete: ['file_deleted', 'warning'],
  bookfiledelete: ['file_deleted', 'warning'],
  downloadfailure: ['download_failed', 'failure'],
  importfailure: ['import_failed', 'failure'],
  manualinteractionrequired: ['interaction_required', 'warning'],
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
      title: string,
      type: NotificationType,
      lines: InboundNotification['lines'],
    ): InboundNotification => ({
      title,
      type,
      lines,
      link,
      source: program.toLowerCase(),
    });
    if (event === 'test')
      return buildNotification(m.mediaTest({ instance }), 'info', [
        [m.testBody()],
        ...toLines(payload.lines('message')),
      ]);
    if (event === 'health' || event === 'healthissue' || event === 'healthrestored') {
      const restored = event === 'healthrestored';
      const level = payload.text('level').toLowerCase();
      const title = restored ? m.mediaHealthRestored({ instance }) : m.mediaHealth({ instance, level });
      return {
        ...buildNotification(title, restored ? 'success' : (findOwn(levels, level) ?? 'warning'), [
          ...toLines(payload.lines('message')),
          ...buildLinkLine(m.help(), payload.link('wikiUrl')),
        ]),
        link: payload.link('wikiUrl') ?? link,
      };
    }
    if (event === 'applicationupdate') {
      const versions = formatVersions(payload.text('previousVersion'), payload.text('newVersion'));
      return buildNotification(m.mediaUpdated({ instance }), 'info', [
        [versions],
        ...toLines(payload.lines('message')),
      ]);
    }
    const label = payload.text('eventType');
    const [eventName, type] = findOwn(events, event) ?? ['', 'info' as const];
    const upgraded = payload.isTrue('isUpgrade') && eventName === 'imported' ? 'upgraded' : eventName;
    const subject = formatSubject(payload);
    const values = { instance, event: upgraded, label };
    const title = subject === '' ? m.mediaEventWithoutSubject(values) : m.mediaEvent({ ...values, subject });
    return buildNotification(title, type, formatDetails(payload));
  },
};
