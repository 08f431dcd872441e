/**
 * hint returns the end of an unknown name's message: the closest known name, or
 * the known names if they are few. Go's package internal/registry has the same
 * rules.
 */
export function hint(name: string, known: readonly string[]): string {
  const close = didYouMean(name, known);
  if (close !== '' || known.length > 20 || known.length === 0) return close;
  return `; known: ${[...known].sort().join(', ')}`;
}

/** didYouMean names the closest known name, if one is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  let best = '', least = 0;
  if (name.length > 2 * Math.max(0, ...known.map((k) => k.length))) return '';
  for (const k of [...known].sort()) {
    const d = distance(name.toLowerCase(), k.toLowerCase());
    if (d <= Math.floor(Math.max(name.length, k.length) / 3) && (best === '' || d < least)) [best, least] = [k, d];
  }
  return best === '' ? '' : `; did you mean "${best}"?`;
}

/** distance returns the Damerau-Levenshtein distance in its optimal string alignment form. */
function distance(a: string, b: string): number {
  let before: number[] = [], last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      let d = Math.min(last[j]! + (a[i] === b[j] ? 0 : 1), last[j + 1]! + 1, row[j]! + 1);
      if (i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]) d = Math.min(d, before[j - 1]! + 1);
      row.push(d);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
