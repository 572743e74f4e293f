/** The supported currencies, their decimals, and amounts in minor units. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  findCurrency, fromMinorUnits, toMinorUnits,
} from '../../../src/domain/catalogue/currency.ts';
import { forRandom, type Random } from '../random.ts';

const DECIMALS: readonly (readonly [decimals: number, codes: string])[] = [
  [2, 'EUR USD GBP CHF CNY INR BRL MXN AFN ALL MGA MRU UYU UZS HUF IDR COP IRR PKR SLE ZWG XCD'],
  [0, 'JPY KRW CLP VND ISK BIF DJF GNF KMF PYG RWF UGX VUV XAF XOF XPF'],
  [3, 'KWD BHD IQD JOD LYD OMR TND'],
];
for (const [decimals, codes] of DECIMALS) {
  for (const code of codes.split(' ')) {
    test(`gives ${code} ${decimals} decimals, as ISO 4217 does`, () => {
      assert.deepEqual(findCurrency(code), { code, decimals });
    });
  }
}

const NONE = {
  'funds code': 'BOV CHE CHW COU MXV USN CLF UYI UYW',
  'unit of account': 'XDR XSU XUA',
  'withdrawn currency': 'ANG BGN CUC HRK SLL ZWL HRD DEM',
  'metal': 'XAU XAG XPT XPD',
  'placeholder': 'XTS XXX',
  'invented code': 'ABC ZZZ',
  'misspelt code': 'eur Eur EU EURO EUR, €',
};
for (const [kind, codes] of Object.entries(NONE)) {
  for (const code of codes.split(' ')) {
    test(`rejects the ${kind} ${code}`, () => assert.equal(findCurrency(code), undefined));
  }
}

/** ISO 4217, list one, as of 2026-01-01: without funds codes, metals and units of account. */
const IN_USE = new Set(`AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD
  BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP
  GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
  KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
  MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR
  SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
  UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(/\s+/));

test('offers no code that ISO 4217 does not list', () => {
  const offered = Intl.supportedValuesOf('currency').filter((code) => findCurrency(code));
  assert.deepEqual(offered.filter((code) => !IN_USE.has(code)), []);
  assert.deepEqual([...IN_USE].filter((code) => !offered.includes(code)), ['VED']);
});

test('rejects an empty code, and names of Object.prototype members', () => {
  for (const code of ['', ' ', '__proto__', 'constructor', 'EUR\n']) {
    assert.equal(findCurrency(code), undefined, JSON.stringify(code));
  }
});

describe('minor units', () => {
  type Case = readonly [amount: number, decimals: number, minor: number | undefined];
  const cases: readonly Case[] = [
    [19.99, 2, 1999], [0, 2, 0], [0.01, 2, 1], [0.1, 2, 10], [1.005, 2, undefined], [1.1, 2, 110],
    [0.29, 2, 29], [1.15, 2, 115], [4.35, 2, 435], [0.001, 2, undefined], [0.005, 2, undefined],
    [999_999_999_999.99, 2, 99_999_999_999_999], [0.30000000000000004, 2, undefined],
    [1500, 0, 1500], [1500.5, 0, undefined], [0.4, 0, undefined],
    [999_999_999_999, 0, 999_999_999_999],
    [1.234, 3, 1234], [1.2345, 3, undefined], [999_999_999_999.999, 3, 999_999_999_999_999],
    [5e-324, 2, undefined], [1e-7, 3, undefined],
  ];
  for (const [amount, decimals, minor] of cases) {
    test(`of ${amount} with ${decimals} decimals: ${minor ?? 'none'}`, () => {
      assert.equal(toMinorUnits(amount, { code: 'XYZ', decimals }), minor);
    });
  }

  for (const decimals of [0, 1, 2, 3]) {
    test(`convert to and from the exact amount, with ${decimals} decimals`, () => {
      const currency = { code: 'XYZ', decimals };
      forRandom(20_000, (random) => {
        const minor = pickMinor(random, decimals);
        const amount = Number(spell(minor, decimals));
        assert.equal(toMinorUnits(amount, currency), minor, `to ${amount}`);
        assert.equal(fromMinorUnits(minor, currency), amount, `from ${minor}`);
      });
    });

    test(`do not exist for an amount with more than ${decimals} decimals`, () => {
      forRandom(20_000, (random) => {
        const last = 1 + random.below(9);
        // Below 10^9, a double still distinguishes the added decimal from none.
        const text = spell(random.below(10 ** (9 + decimals)) * 10 + last, decimals + 1);
        assert.equal(toMinorUnits(Number(text), { code: 'XYZ', decimals }), undefined, text);
      });
    });
  }
});

/** An amount below 10^12, with every order of magnitude equally likely. */
function pickMinor(random: Random, decimals: number): number {
  return random.below(10 ** (1 + random.below(12 + decimals)));
}

/** The decimal text of an amount, formatted without a division. */
function spell(minor: number, decimals: number): string {
  const digits = String(minor).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}
