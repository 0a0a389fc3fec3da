import { describe, expect, it } from 'vitest';
import { builtIn } from '../../../../services/push/domain/template/built-in.ts';
import { renderTemplate } from '../../../../services/push/domain/template/render.ts';

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
const render = (template: string, data: unknown = alert, expired = () => false): string =>
  renderTemplate(template, data as never, { place: '', expired });

describe('the template language', () => {
  it.each([
    ['{{ .name }} at {{.value}} %', 'Disk at 93 %'],
    [
      '{{ .big }} {{ .share }} {{ .on }} {{ .labels }} {{ .list }}',
      '1234567 0.5 true map[__proto__x:1 host:nas zone:eu] [a b c]',
    ],
    ['{{ .missing }}|{{ .missing.deeper }}|{{ .none }}', '<no value>|<no value>|<no value>'],
    ['{{ .constructor }}{{ .labels.toString }}', '<no value><no value>'],
    ['{{ print 1 2 "a" "b" 3 true }}', '1 2ab3 true'],
    ['a\\nb {{ "c\\nd" }}', 'a\nb c\nd'],
    ['  a {{- " b " -}} c  ', 'a b c'],
    ['a{{/* nothing */}}b{{- /* nor here */ -}} c', 'abc'],
    ['{{ if gt .value 90.0 }}high{{ else }}low{{ end }}', 'high'],
    ['{{ if gt .value 90 }}high{{ end }}', 'high'],
    ['{{ if eq .name "CPU" }}c{{ else if eq .name "RAM" "Disk" }}d{{ else }}?{{ end }}', 'd'],
    ['{{ if and .on (not .none) (or .missing .name) }}yes{{ end }}', 'yes'],
    ['{{ or .missing "x" }}{{ and .on "y" }}{{ and .none (fail "never") }}', 'xy<no value>'],
    ['{{ range .list }}{{ . }},{{ end }}', 'a,b,c,'],
    ['{{ range $i, $e := .list }}{{ $i }}{{ $e }}{{ end }}', '0a1b2c'],
    ['{{ range $k, $v := .labels }}{{ $k }}={{ $v }};{{ end }}', '__proto__x=1;host=nas;zone=eu;'],
    ['{{ range .missing }}x{{ else }}none{{ end }}', 'none'],
    ['{{ range .rows }}{{ if eq .n 2 }}{{ break }}{{ end }}{{ .n }}{{ $.name }}{{ end }}', '1Disk'],
    ['{{ range 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}', '0234'],
    ['{{ with .labels }}{{ .host }}{{ end }}{{ with .missing }}x{{ else }}-{{ end }}', 'nas-'],
    ['{{ $x := .name }}{{ if .on }}{{ $x = "changed" }}{{ $y := 1 }}{{ end }}{{ $x }}', 'changed'],
    ['{{ (index .rows 1).n }} {{ index .labels "host" }} {{ len .list }} {{ slice .name 1 3 }}', '2 nas 3 is'],
    ['{{ .name | upper | printf "%s-%5.1f|%-4d|%q" "x" }}', 'x-%!f(string=DISK)|%!d(MISSING)|%!q(MISSING)'],
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
    ['{{ date "2006-01-02 15:04:05" 1700000000 }}', new Date(1700000000000).toLocaleString('sv-SE')],
    ['{{ indent 2 "a\\nb" }}|{{ cat "a" 1 }}|{{ quote "x" }}|{{ plural "one" "many" 2 }}', 'a\n  b|a 1|"x"|many'],
    ['{{ .list | len | eq 3 }}', 'true'],
    ['{{ "`raw`" }}{{ `"raw"` }}', '`raw`"raw"'],
  ])('%s', (template, text) => {
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
  ])('%s is refused when it is parsed', (template, reason) => {
    expect(() => render(template)).toThrow(reason);
  });

  it.each([
    ['{{ index .list 7 }}', 'error calling index: index out of range: 7'],
    ['{{ .name.first }}', "can't evaluate field first"],
    ['{{ eq .name 1 }}', 'incompatible types for comparison'],
    ['{{ lt .labels .labels }}', 'invalid type for comparison'],
    ['{{ div 1 0 }}', 'division by zero'],
    ['{{ len 5 }}', 'len of type float64'],
    ['{{ upper }}', 'wrong number of args for upper: want 1 got 0'],
    ['{{ fail "no" }}', 'error calling fail: no'],
    ['{{ .name 1 }}', 'is not a function'],
  ])('%s fails when it runs', (template, reason) => {
    expect(() => render(template)).toThrow(reason);
  });

  it.each(['{{define "x"}}{{end}}', '{{- block "x" . }}{{ end }}', '{{template "x"}}', '{{ call .f }}'])(
    '%s is not allowed',
    (template) => {
      expect(() => render(template)).toThrow('disallowed');
    },
  );

  it('gives up what takes too long or grows too large', () => {
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

describe('the built-in template for github', () => {
  const github = (event: object, part: 'title' | 'message' = 'title'): string =>
    render(builtIn.get('github')?.[part] ?? '', {
      repository: { full_name: 'me/app', html_url: 'u' },
      sender: { login: 'jo' },
      ...event,
    });

  it.each([
    [{ zen: 'Keep it simple.' }, '🏓 [me/app] Webhook works'],
    [{ action: 'opened', issue: { number: 7, title: 'Broken' } }, '🐛 [me/app] Issue #7 opened'],
    [{ action: 'created', issue: { number: 7 }, comment: { body: 'b' } }, '💬 [me/app] Comment on #7'],
    [{ action: 'closed', pull_request: { number: 8, title: 'Fix' } }, '🔀 [me/app] Pull request #8 closed'],
    [
      { action: 'submitted', review: { state: 'approved' }, pull_request: { number: 8 } },
      '🔀 [me/app] Pull request #8 approved',
    ],
    [{ ref: 'refs/heads/main', commits: [{}, {}] }, '⬆️ [me/app] 2 commits to main'],
    [{ action: 'published', release: { tag_name: 'v1' } }, '🚀 [me/app] Release v1 published'],
    [{ action: 'created', starred_at: 'x' }, '⭐ [me/app] Star by jo'],
    [
      { action: 'completed', workflow_run: { name: 'CI', conclusion: 'failure', status: 'completed' } },
      '❌ [me/app] CI: failure',
    ],
    [
      { action: 'in_progress', workflow_run: { name: 'CI', conclusion: null, status: 'in_progress' } },
      '⚙️ [me/app] CI: in_progress',
    ],
    [{ action: 'odd' }, 'GitHub [me/app]: odd'],
  ])('%o', (event, title) => {
    expect(github(event)).toBe(title);
  });

  it('lists the commits of a push', () => {
    const commits = [{ id: '0123456789', message: 'First line\n\nmore' }];
    expect(github({ ref: 'refs/heads/main', commits, pusher: { name: 'jo' }, compare: 'https://c' }, 'message')).toBe(
      '0123456 First line\nby jo\nhttps://c',
    );
  });
});
