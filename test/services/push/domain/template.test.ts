import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInTemplates } from '../../../../services/push/domain/template/built-in.ts';
import { isFunction } from '../../../../services/push/domain/template/functions/functions.ts';
import { renderTemplate } from '../../../../services/push/domain/template/render.ts';
import type { TemplateEnvironment } from '../../../../services/push/domain/template/run.ts';

const alert = {
  name: 'Disk',
  value: 93,
  big: 1234567,
  share: 0.5,
  on: true,
  none: null,
  labels: { host: 'nas', zone: 'eu', __proto__x: 1 },
  list: ['a', 'b', 'c'],
  rows: [{ n: 1 }, { n: 2 }],
  when: '2026-01-02T03:04:05Z',
};
const environment: TemplateEnvironment = {
  now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  random: () => 0.5,
  zone: 'UTC',
  digest: (algorithm, bytes) => createHash(algorithm).update(bytes, 'latin1').digest('hex'),
};
const render = (template: string, data: unknown = alert, expired = () => false): string =>
  renderTemplate(template, data, { errorPrefix: '', isExpired: expired, environment });

describe('template language', () => {
  it.each([
    ['{{ .name }} at {{.value}} %', 'Disk at 93 %'],
    [
      '{{ .big }} {{ .share }} {{ .on }} {{ .labels }} {{ .list }}',
      '1.234567e+06 0.5 true map[__proto__x:1 host:nas zone:eu] [a b c]',
    ],
    ['{{ .missing }}|{{ .missing.deeper }}|{{ .none }}', '<no value>|<no value>|<no value>'],
    ['{{ .constructor }}{{ .labels.toString }}', '<no value><no value>'],
    ['{{ print 1 2 "a" "b" 3 true }}', '1 2ab3 true'],
    ['a\\nb {{ "c\\nd" }}', 'a\nb c\nd'],
    ['  a {{- " b " -}} c  ', 'a b c'],
    ['a{{/* nothing */}}b{{- /* nor here */ -}} c', 'abc'],
    ['{{ if gt .value 90.0 }}high{{ else }}low{{ end }}', 'high'],
    ['{{ if eq .name "CPU" }}c{{ else if eq .name "RAM" "Disk" }}d{{ else }}?{{ end }}', 'd'],
    ['{{ if and .on (not .none) (or .missing .name) }}yes{{ end }}', 'yes'],
    ['{{ or .missing "x" }}{{ and .on "y" }}{{ and .none (fail "never") }}', 'xy<no value>'],
    ['{{ range .list }}{{ . }},{{ end }}', 'a,b,c,'],
    ['{{ range $i, $e := .list }}{{ $i }}{{ $e }}{{ end }}', '0a1b2c'],
    ['{{ range $k, $v := .labels }}{{ $k }}={{ $v }};{{ end }}', '__proto__x=1;host=nas;zone=eu;'],
    ['{{ range .missing }}x{{ else }}none{{ end }}', 'none'],
    ['{{ range .rows }}{{ if eq .n 2.0 }}{{ break }}{{ end }}{{ .n }}{{ $.name }}{{ end }}', '1Disk'],
    ['{{ range 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}', '0234'],
    ['{{ with .labels }}{{ .host }}{{ end }}{{ with .missing }}x{{ else }}-{{ end }}', 'nas-'],
    ['{{ $x := .name }}{{ if .on }}{{ $x = "changed" }}{{ $y := 1 }}{{ end }}{{ $x }}', 'changed'],
    ['{{ (index .rows 1).n }} {{ index .labels "host" }} {{ len .list }} {{ slice .name 1 3 }}', '2 nas 3 is'],
    ['{{ .name | upper | printf "%s-%5.1f|%-4d|%q" "x" }}', 'x-%!f(string=    D)|%!d(MISSING)|%!q(MISSING)'],
    [
      '{{ printf "%.2f %5d %-3s| %05.1f %x %v %% %t" 3.14159 42 "a" 2.5 255 .list true }}',
      '3.14    42 a  | 002.5 ff [a b c] % true',
    ],
    [
      '{{ default "d" .missing }}{{ .name | default "d" }}{{ coalesce .none "" "c" }}{{ ternary "y" "n" .on }}',
      'dDiskcy',
    ],
    ['{{ trunc 2 .name }}{{ trunc -2 .name }}{{ abbrev 6 "long text" }}{{ title "two words" }}', 'Disklon...Two Words'],
    [
      '{{ replace "i" "u" .name }}{{ trimSuffix "k" .name }}{{ contains "is" .name }}{{ repeat 3 "ab" }}',
      'DuskDistrueababab',
    ],
    [
      '{{ join ", " .list }} {{ first .list }}{{ last .list }} {{ splitList "," "x,y" | reverse | join "" }}',
      'a, b, c ac yx',
    ],
    [
      '{{ add 1 2 }} {{ sub 5 3 }} {{ mul 2 3 4 }} {{ div 7 2 }} {{ mod 7 2 }} {{ round 2.567 1 }} {{ max 1 5 3 }}',
      '3 2 24 3 1 2.6 5',
    ],
    [
      '{{ toJson .rows }} {{ (fromJson "{\\"a\\":[1]}").a }} {{ get .labels "host" }} {{ hasKey .labels "x" }}',
      '[{"n":1},{"n":2}] [1] nas false',
    ],
    [
      '{{ b64enc "hällo" }} {{ b64dec "aMOkbGxv" }} {{ html "<a>" }} {{ urlquery "a b&c" }}',
      'aMOkbGxv hällo &lt;a&gt; a+b%26c',
    ],
    ['{{ date "2006-01-02 15:04:05" 1700000000 }}', '2023-11-14 22:13:20'],
    ['{{ indent 2 "a\\nb" }}|{{ cat "a" 1 }}|{{ quote "x" }}|{{ plural "one" "many" 2 }}', 'a\n  b|a 1|"x"|many'],
    ['{{ .list | len | eq 3 }}', 'true'],
    ['{{ "`raw`" }}{{ `"raw"` }}', '`raw`"raw"'],
  ])('renders %s', (template, text) => {
    expect(render(template)).toBe(text);
  });

  it.each([
    ['{{.a', 'template: :1: unclosed action'],
    ['a\nb {{ nofunc 1 }}', 'template: :2: function "nofunc" not defined'],
    ['{{ if .a }}x', 'unexpected EOF'],
    ['{{ end }}', 'unexpected {{end}}'],
    ['{{ $x }}', 'undefined variable "$x"'],
    ['{{ }}', 'missing value for command'],
    ['{{ "a }}', 'unterminated quoted string'],
    ['{{ (len .a }}', 'unclosed left paren'],
    ['{{ if .a }}{{ else }}{{ else }}{{ end }}', 'expected end'],
    ['{{ break }}', 'outside {{range}}'],
    ['{{ 1 2 }}', "can't give argument to non-function"],
    [`${'{{ if .a }}'.repeat(200)}`, 'nested too deeply'],
    [`{{ ${'('.repeat(200)} }}`, 'nested too deeply'],
  ])('refuses to parse %s', (template, reason) => {
    expect(() => render(template)).toThrow(reason);
  });

  it.each([
    ['{{ index .list 7 }}', 'error calling index: index out of range: 7'],
    ['{{ .name.first }}', "can't evaluate field first"],
    ['{{ eq .name 1 }}', 'incompatible types for comparison'],
    ['{{ if gt .value 90 }}high{{ end }}', 'incompatible types for comparison: float64 and int'],
    ['{{ nil }}', 'nil is not a command'],
    ['{{ and }}', 'wrong number of args for and: want at least 1 got 0'],
    ['{{ repeat .value "x" }}', 'wrong type for value; expected int; got float64'],
    ['{{ upper .missing }}', 'invalid value; expected string'],
    ['{{ .none.deeper }}', 'nil pointer evaluating interface {}.deeper'],
    ['{{ mustToDate "2006-01-02" "soon" }}', 'cannot parse "soon" as "2006"'],
    ['{{ regexFind "(" "x" }}', 'missing closing )'],
    ['{{ lt .labels .labels }}', 'invalid type for comparison'],
    ['{{ div 1 0 }}', 'division by zero'],
    ['{{ len 5 }}', 'len of type int'],
    ['{{ len .value }}', 'len of type float64'],
    ['{{ upper }}', 'wrong number of args for upper: want 1 got 0'],
    ['{{ fail "no" }}', 'error calling fail: no'],
    ['{{ .name 1 }}', 'is not a function'],
  ])('fails to execute %s', (template, reason) => {
    expect(() => render(template)).toThrow(reason);
  });

  it.each(['{{define "x"}}{{end}}', '{{- block "x" . }}{{ end }}', '{{template "x"}}', '{{ call .f }}'])(
    'does not allow %s',
    (template) => {
      expect(() => render(template)).toThrow('disallowed');
    },
  );

  it('stops templates that run too long or produce too much', () => {
    const nested = '{{ range 10000 }}{{ range 10000 }}{{ end }}{{ end }}';
    expect(() => render(nested)).toThrow('took too long');
    expect(() => render('{{ range 1000 }}x{{ end }}', alert, () => true)).toThrow('took too long');
    expect(() => render('{{ range 1000 }}{{ range 20 }}' + '0123456789'.repeat(10) + '{{ end }}{{ end }}')).toThrow(
      'too large',
    );
    expect(() => render('{{ repeat 2000000 "x" }}')).toThrow('too long');
    expect(() => render('{{ $x := "0123456789" }}{{ range 30 }}{{ $x = print $x $x }}{{ end }}')).toThrow('too large');
    expect(() => render('{{ until 1000000 }}')).toThrow('too long');
    expect(() => render('x'.repeat(33 * 1024))).toThrow('too large');
  });
});

interface Recorded {
  readonly data: unknown;
  /** Template and Go's output; without output, Go refused it or failed. */
  readonly cases: readonly (readonly [string, string?])[];
}

function readRecording(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'golden', name), 'utf8'));
}

describe('template functions compared with Go', () => {
  const { data, cases } = readRecording('template-functions.json') as Recorded;

  it.each(cases.flatMap(([template, text]) => (text === undefined ? [] : [[template, text]])))(
    'renders %s',
    (template, text) => {
      expect(render(template ?? '', data)).toBe(text);
    },
  );

  it.each(cases.flatMap(([template, text]) => (text === undefined ? [template] : [])))(
    'fails to render %s',
    (template) => {
      expect(() => render(template, data)).toThrow(/could not parse template|template execution failed/);
    },
  );

  it('defines all functions of ntfy', () => {
    expect(peerFunctions.filter((name) => !isFunction(name))).toEqual([]);
    expect(peerFunctions).toHaveLength(176);
  });
});

/** As listed in ntfy's documentation, and those of Go. */
const peerFunctions = `
  ago date date_in_zone date_modify dateInZone dateModify duration durationRound htmlDate htmlDateInZone must_date_modify
  mustDateModify mustToDate now toDate unixEpoch trunc trim upper lower title substr repeat trimAll trimSuffix trimPrefix
  contains hasPrefix hasSuffix quote squote cat indent nindent replace plural sha1sum sha256sum sha512sum adler32sum
  toString atoi seq toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul randInt biggest max
  min maxf minf ceil floor round join sortAlpha default empty coalesce all any compact mustCompact fromJSON toJSON
  toPrettyJSON toRawJSON mustFromJSON mustToJSON mustToPrettyJSON mustToRawJSON ternary typeOf typeIs typeIsLike kindOf
  kindIs deepEqual base dir clean ext isAbs osBase osClean osDir osExt osIsAbs b64enc b64dec b32enc b32dec tuple list dict
  get set unset hasKey pluck keys pick omit values append push mustAppend mustPush prepend mustPrepend first mustFirst rest
  mustRest last mustLast initial mustInitial reverse mustReverse uniq mustUniq without mustWithout has mustHas slice
  mustSlice concat dig chunk mustChunk fail regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind mustRegexFind
  regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit mustRegexSplit
  regexQuoteMeta urlParse urlJoin and or not len index print printf println html js urlquery eq ne lt le gt ge
`
  .trim()
  .split(/\s+/);

describe('template times', () => {
  it.each([
    ['{{ now.Year }} {{ now | date "2006-01-02 15:04:05 MST" }}', '2026 2026-01-02 03:04:05 UTC'],
    ['{{ now | dateModify "-90m" | htmlDate }} {{ unixEpoch now }}', '2026-01-02 1767323045'],
    ['{{ ago (toDate "2006-01-02 15:04" "2026-01-02 00:00") }} {{ ago .missing }}', '3h4m6s 0s'],
    ['{{ durationRound (toDate "2006-01-02" "2025-12-24") }}', '9d'],
    ['{{ date "15:04" "no time at all" }} {{ toJSON now }}', '03:04 "2026-01-02T03:04:05.678Z"'],
    ['{{ dateInZone "15:04 MST" now "Asia/Tokyo" }} {{ randInt 1 10 }}', '12:04 JST 5'],
  ])('renders %s', (template, text) => {
    expect(render(template)).toBe(text);
  });

  it("uses the server's time zone by default", () => {
    const options = { errorPrefix: '', isExpired: () => false, environment: { ...environment, zone: 'Europe/Berlin' } };
    expect(renderTemplate('{{ date "15:04 MST -0700" 1700000000 }}', null, options)).toBe('23:13 CET +0100');
    expect(renderTemplate('{{ toDate "2006-01-02 15:04" "2024-07-01 12:00" }}', null, options)).toBe(
      '2024-07-01 12:00:00 +0200 CEST',
    );
  });
});

describe('template limits', () => {
  const until = (ms: number): (() => boolean) => {
    const deadline = performance.now() + ms;
    return () => performance.now() > deadline;
  };

  it('evaluates regular expressions in linear time on nearly matching text', () => {
    const text = 'a'.repeat(5000);
    expect(render(`{{ regexMatch "^(a+)+$" "${text}!" }} {{ regexMatch "^(a|a)*b$" "${text}" }}`)).toBe('false false');
  });

  it.each([
    ['an expression that multiplies', '{{ regexFind "(((a{30}){30}){30}){30}" "a" }}', 'expression too large'],
    ['many empty repetitions', '{{ regexFind "((((){9}){9}){9}){999}" "a" }}', 'expression too large'],
    ['a nested repetition', '{{ regexFind "(a{100}){100}" "a" }}', 'invalid repeat count: `{100}`'],
    ['many long repetitions', `{{ regexFind "${'a{1000}'.repeat(30)}" "a" }}`, 'expression too large'],
    [
      'repetitions after a quoted bracket',
      `{{ regexFind ` + '`\\Q[\\E' + `${'a{1000}'.repeat(30)}]` + '` "a" }}',
      'expression too large',
    ],
    ['one long search', '{{ regexFind "([xz]?){1000}[yw]" (repeat 9000 "x") }}', 'took too long'],
    [
      'lists in lists, printed',
      '{{ $x := list 1 }}{{ range 40 }}{{ $x = list $x $x }}{{ end }}{{ $x }}',
      'took too long',
    ],
    [
      'lists in lists, as JSON',
      '{{ $x := list 1 }}{{ range 40 }}{{ $x = list $x $x }}{{ end }}{{ toJSON $x }}',
      'too large',
    ],
    [
      'lists in lists, compared',
      '{{ $x := list 1 }}{{ $y := list 1 }}{{ range 40 }}{{ $x = list $x $x }}{{ $y = list $y $y }}{{ end }}{{ deepEqual $x $y }}',
      'took too long',
    ],
    ['a list that doubles', '{{ $x := list 1 }}{{ range 40 }}{{ $x = concat $x $x }}{{ end }}', 'too large'],
    ['a map that holds itself', '{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $x }}', 'nested too deeply'],
    ['a wide field', '{{ $x := printf "%1000000d" 1 }}{{ $x }}{{ $x }}', 'too large'],
    ['a deep margin', '{{ indent 1000 "a" }}', 'exceeds limit of 100'],
    ['a long repetition', '{{ repeat 9999 "0123456789a" }}', 'too long'],
    [
      'a search that never ends',
      '{{ range 10000 }}{{ regexFind "(x+x+)+y" (repeat 9000 "x") }}{{ end }}',
      'took too long',
    ],
  ])('limits %s', (_case, template, reason) => {
    expect(() => render(template, alert, until(5000))).toThrow(reason);
  });

  it('does not share data modified by a template with the next one', () => {
    const data = { labels: { a: 1 } };
    expect(render('{{ $_ := set .labels "b" 2 }}{{ .labels }}', data)).toBe('map[a:1 b:2]');
    expect(render('{{ .labels }}', data)).toBe('map[a:1]');
  });

  it('replaces a truncated character', () => {
    expect(render('{{ trunc 1 "é" }}|{{ print (trunc 1 "é") (substr 1 2 "é") }}')).toBe('\ufffd|é');
  });
});

interface RecordedMessage {
  readonly template: string;
  readonly payload: unknown;
  readonly title: string;
  readonly message: string;
}

describe('built-in templates', () => {
  const messages = readRecording('built-in-templates.json') as readonly RecordedMessage[];

  it.each(messages.map((entry, index) => [`${entry.template} ${String(index)}: ${entry.title}`, entry] as const))(
    'renders %s like ntfy',
    (_name, { template, payload, title, message }) => {
      expect(render(builtInTemplates.get(template)?.title ?? '', payload)).toBe(title);
      expect(render(builtInTemplates.get(template)?.message ?? '', payload)).toBe(message);
    },
  );

  const github = (event: object, field: 'title' | 'message' = 'title'): string =>
    render(builtInTemplates.get('github')?.[field] ?? '', {
      repository: { full_name: 'me/app', name: 'app', html_url: 'u' },
      sender: { login: 'jo' },
      ...event,
    });

  it.each([
    [{ zen: 'Keep it simple.' }, '🏓 [me/app] Webhook works'],
    [{ action: 'opened', issue: { number: 7, title: 'Broken' } }, '🐛 Issue opened: #7 Broken'],
    [{ action: 'created', issue: { number: 7, title: 'T' }, comment: { body: 'b' } }, '💬 New comment on issue #7 T'],
    [
      { action: 'created', pull_request: { number: 8, title: 'T' }, comment: { body: 'b' } },
      '💬 New comment on issue #8 T',
    ],
    [{ action: 'created', comment: { body: 'b' } }, '💬 New comment on me/app'],
    [{ action: 'closed', pull_request: { number: 8, title: 'Fix' } }, '🔀 Pull request closed: #8 Fix'],
    [
      { action: 'submitted', review: { state: 'approved' }, pull_request: { number: 8, title: 'Fix' } },
      '🔀 Pull request submitted: #8 Fix',
    ],
    [{ ref: 'refs/heads/main', commits: [{}, {}] }, '⬆️ [me/app] 2 commits to main'],
    [{ action: 'published', release: { tag_name: 'v1' } }, '🚀 [me/app] Release v1 published'],
    [{ action: 'created', starred_at: 'x' }, '⭐ jo starred app'],
    [{ action: 'deleted', starred_at: null }, '⭐ [me/app] Star removed by jo'],
    [
      { action: 'completed', workflow_run: { name: 'CI', conclusion: 'failure', status: 'completed' } },
      '❌ [me/app] CI: failure',
    ],
    [
      { action: 'in_progress', workflow_run: { name: 'CI', conclusion: null, status: 'in_progress' } },
      '⚙️ [me/app] CI: in_progress',
    ],
    [{ action: 'odd' }, 'GitHub [me/app]: odd'],
  ])('describes the GitHub event %o', (event, title) => {
    expect(github(event)).toBe(title);
  });

  it('lists the commits of a GitHub push', () => {
    const commits = [{ id: '0123456789', message: 'First line\n\nmore' }];
    expect(github({ ref: 'refs/heads/main', commits, pusher: { name: 'jo' }, compare: 'https://c' }, 'message')).toBe(
      '0123456 First line\nby jo\nhttps://c',
    );
  });

  it.each([
    ['alertmanager', { status: 'odd', alerts: [] }, '⚠️ Unknown alert:'],
    ['alertmanager', { status: 'firing', groupLabels: { alertname: 'Disk' } }, '🚨 Alert: Disk'],
    ['grafana', {}, '⚠️ Unknown alert: Alert'],
  ])('renders %s from %o', (name, payload, title) => {
    expect(render(builtInTemplates.get(name)?.title ?? '', payload)).toBe(title);
    expect(render(builtInTemplates.get(name)?.message ?? '', payload)).not.toBe('');
  });
});
