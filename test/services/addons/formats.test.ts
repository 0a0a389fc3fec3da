import { describe, expect, it } from 'vitest';
import { buildFormatContext } from '../../../services/addons/domain/format-context.ts';
import { compileTemplate } from '../../../services/addons/domain/format/template.ts';
import { parseTitleFacts } from '../../../services/addons/domain/title-facts.ts';
import { parseTitleRequest } from '../../../services/addons/domain/title-request.ts';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { getSampleStream } from '../../../services/addons/domain/sample-stream.ts';
import type { ParsedStream } from '../../../services/addons/domain/stream.ts';
import { buildConfig } from './rig.ts';

const sampleStream = getSampleStream();
const stream: ParsedStream = {
  ...sampleStream,
  regexScore: 30,
  expressionScore: 5,
  regexesRanked: ['Tier 1', 'Remux'],
  file: { ...sampleStream.file, languages: ['French', 'English', 'Dual Audio'], subtitles: ['German'], country: 'US' },
};
const otherStream: ParsedStream = { ...sampleStream, regexScore: 60, expressionScore: 20 };
const meta = {
  ...{ name: 'The Show', runtime: '45 min', genres: ['Drama'], language: 'English', releaseInfo: '2019-2021' },
  videos: [
    { season: 1, episode: 1, released: '2019-01-01T00:00:00Z' },
    { season: 1, episode: 2, released: '2019-01-08T00:00:00Z' },
  ],
};
const titleRequest = {
  ...parseTitleRequest('series', 'tt1:1:1'),
  ...{ titles: ['The Show'], year: 2019, facts: parseTitleFacts(meta), now: Date.parse('2019-01-05T12:00:00Z') },
};
const config = readConfig(buildConfig([], { preferredLanguages: ['English', 'French'] }));
const context = buildFormatContext(config, titleRequest, [stream, otherStream]);
const render = (template: string, values: object = {}): string =>
  compileTemplate(template)({ stream, addonName: 'Addon', context, ...values });

describe('compileTemplate', () => {
  it.each<[string, string]>([
    ["{stream.smallLanguageCodes::join(' ')}", 'ᴇɴ ғʀ ᴅᴜᴀʟ ᴀᴜᴅɪᴏ'],
    ["{stream.uLanguages::join(' ')}", 'English French'],
    ["{stream.uSmallLanguageCodes::join('·')}", 'ᴇɴ·ғʀ'],
    ["{stream.languageCodes::join(' ')}", 'EN FR DUAL AUDIO'],
    ["{stream.subtitleCodes::join(' ')}{stream.subtitleEmojis}", 'DE🇩🇪'],
    ['{stream.uSubtitles::exists["yes"||"no"]}', 'no'],
    ['{stream.wedontknowwhatakilometeris::first}', '🇺🇸🦅'],
    ['{stream.nSeScore} {stream.nRegexScore}', '25 50'],
    ["{stream.rankedRegexMatched::join(' + ')} {stream.regexMatched}", 'Tier 1 + Remux Tier 1'],
    ['{stream.subbed::istrue["SUB"||""]}{stream.dubbed::istrue["DUB"||""]}', 'SUB'],
    ['{stream.idMatched}{stream.freeleech}{stream.preloading}{stream.country}', 'falsefalsefalseUS'],
    [
      '{metadata.title} ({metadata.year}-{metadata.yearEnd}) {metadata.runtime}m {metadata.genres}',
      'The Show (2019-2021) 45m Drama',
    ],
    ['S{metadata.season}E{metadata.episode} {metadata.queryType} {metadata.originalLanguage}', 'S1E1 series English'],
    [
      '{metadata.hasNextEpisode::istrue["next in {metadata.daysUntilNextEpisode}"||""]} {metadata.daysSinceRelease}',
      'next in 3 4',
    ],
    ['{metadata.anilistId}{metadata.malId}{metadata.episodeTitle}|', '|'],
    ['{stream.somethingOfTomorrow}{service.nothing::upper}{metadata.x::join(", ")}{debug.x}|', '|'],
    ['{STREAM.Resolution} { stream.resolution }', '2160p 2160p'],
    ['{tools.newLine}{stream.resolution}{tools.NEWLINE}x', '\n2160p\nx'],
    ["{stream.languages::join('{tools.newLine}- ')}", 'English\n- French\n- Dual Audio'],
    ["{stream.visualTags::join(' ')}{stream.audioTags}", 'DVAtmos,TrueHD'],
    ["{addon.name::replace('{addon.name}','It')}", 'It'],
    ["{stream.title::replace('Movie','Director's Cut')}", "The Director's Cut"],
    ['{stream.resolution::=2160P["4K"||"x"]}', '4K'],
    ['{stream.seeders::> 100["many"||"few"]}', 'many'],
    ['{stream.size::sbytes} {stream.size::rbytes} {stream.size::bytes2}', '60 GB 60 GB 55.88 GiB'],
    [
      "{stream.duration::time} {stream.duration::time('[%-Hh ]%-Mm')} {metadata.runtime::time('%H:%M')}",
      '2h:0m:0s 2h 0m 00:45',
    ],
    ['{stream.resolution::in(\'2160P\',\'1080p\')::istrue["UHD"||""]}', 'UHD'],
    ['{service.cached::isfalse::or::stream.type::=p2p::and::stream.seeders::>0["⇋"||"-"]}', '-'],
    ['{stream.seadex["best"||"not"]}{service.cached["c"||"u"||"?"]}', 'notc'],
    ['{\'text\'::upper} {"x"::equal::\'x\'["same"||""]}', 'TEXT same'],
    ['{stream.age::left::stream.size} {stream.type::right::stream.year}', '2d 2019'],
    ['{stream.regexScore::star} {stream.regexScore::pstar}', '★⯪ ★⯪☆☆☆'],
    ['{stream.year::superscript}{stream.year::subscript}', '²⁰¹⁹₂₀₁₉'],
    ["{stream.resolution::translate('2160','𝟮𝟭𝟲')}", '𝟮𝟭𝟲0p'],
    ['{?in {stream.folderName} of {stream.title}?}{?by {stream.releaseGroup}?}', 'by GRP'],
    ['{stream.type::unknownThing::upper}{stream.type::future(1)}', 'DEBRIDdebrid'],
    ['{stream.title::exists["a \\"quoted\\" {stream.year::exists["{stream.year}"||""]}"||""]}', 'a "quoted" 2019'],
    ['{stream.title::exists["one\\ntwo"||""]}', 'one\ntwo'],
    ['keep {braces} and {a.b}', 'keep {braces} and {a.b}'],
    ['{stream.message::~Download["{tools.removeLine}"||""]}{stream.year}', '2019'],
    ['{stream.filename::~remux["BR REMUX"||"{stream.quality}"]}', 'BR REMUX'],
    ['{config.addonName::lower} {stream.title::base64} {stream.title::truncate(3)}', 'addon VGhlIE1vdmll The…'],
  ])('renders %j', (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  it('renders an empty text for a stream without attributes', () => {
    const minimalStream = {
      ...sampleStream,
      service: undefined,
      file: { ...sampleStream.file, languages: [], visualTags: [] },
    };
    const text =
      "{stream.smallLanguageCodes::join(' ')}{service.shortName}{stream.visualTags::join(' ')}{stream.message}";
    expect(render(text, { stream: minimalStream, context: undefined })).toBe('');
  });

  it('reads layout instructions from the template only', () => {
    const forged = { ...stream, filename: 'a {tools.removeLine} b\u0012\u0011' };
    expect(render('{stream.filename}', { stream: forged })).toBe('a {tools.removeLine} b');
  });

  it('lists all fields for debugging, without addresses that may contain keys', () => {
    const secret = { ...stream, addon: { ...stream.addon, manifestUrl: 'https://x.example/KEY/manifest.json' } };
    const renderedText = render('{debug.json}', { stream: secret });
    expect(JSON.parse(renderedText)).toMatchObject({
      stream: { resolution: '2160p' },
      metadata: { title: 'The Show' },
    });
    expect(renderedText).not.toContain('KEY');
  });

  it('stays fast on hostile templates', () => {
    for (const text of [
      '{'.repeat(20_000),
      '{?'.repeat(10_000),
      `${'{?'.repeat(9000)}?}`,
      '{stream.title::exists["'.repeat(800),
      "{stream.title::replace('".repeat(800),
    ]) {
      const startedAt = process.cpuUsage();
      render(text);
      const { user, system } = process.cpuUsage(startedAt);
      // Repeated parsing of the rest would take five seconds for the last template.
      expect((user + system) / 1000).toBeLessThan(2000);
    }
  });
});
