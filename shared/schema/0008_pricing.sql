-- Where every figure of a new payment came from, and the list of invoice currencies.

alter table payment_offers add column price_at timestamptz;
comment on column payment_offers.price_at is 'Service time the locked price was taken; null for a price the merchant gave.';

alter table payments
  add column fiat_rate unsigned_amount,
  add column fiat_source text,
  add column fiat_at timestamptz,
  add check (num_nulls(fiat_rate, fiat_source, fiat_at) in (0, 3));
comment on column payments.fiat_rate is 'US dollars for one unit of the invoice currency at creation; null for US dollars, which need none.';
comment on column payments.fiat_source is 'Where that rate came from.';
comment on column payments.fiat_at is 'Service time the rate was taken.';

-- ISO 4217 as of 2026: what is in circulation and traded, so that two public sources agree on its rate.
insert into currencies (code) select unnest(string_to_array(
  'AED ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK '
  'DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD ISK JMD JOD JPY '
  'KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MNT MOP MRU MUR MVR MWK MXN MYR MZN '
  'NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STN SVC SZL '
  'THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW', ' '))
on conflict (code) do nothing;
-- Known and switched off: no market that sources agree on, or withdrawn in the last years. An operator may switch any on.
insert into currencies (code, active) select unnest(string_to_array(
  'AFN CUP ERN IRR KPW MMK SDG SSP SYP VED VES ZWG '
  'ANG BGN CUC HRK SLL ZWL', ' ')), false
on conflict (code) do nothing;
