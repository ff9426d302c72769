/// A day of the Gregorian calendar, extended to years before its introduction (as RFC 3339 does).
struct CivilDate: Equatable {
  var year: Int64
  var month: Int64
  var day: Int64

  /// True if the date exists in the calendar and its year is in the range 1 to 9999.
  var exists: Bool {
    (1...9999).contains(year) && (1...12).contains(month)
      && day >= 1 && day <= CivilDate.length(ofMonth: month, year: year)
  }

  // The calculations use years that start in March: the leap day is then the last day of its year, and one linear
  // formula gives the number of days before a month (153 days in every five months from March on).

  /// The number of days from 1970-01-01 to this day.
  var daysSince1970: Int64 {
    let fromMarch = month > 2 ? month - 3 : month + 9
    let marchYear = month > 2 ? year : year - 1
    let era = marchYear.flooredQuotient(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * fromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * CivilDate.daysPerEra + dayOfEra - CivilDate.daysToEpoch
  }

  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the date that is `days` days after 1970-01-01.
  init(daysSince1970 days: Int64) {
    let shifted = days + CivilDate.daysToEpoch
    let era = shifted.flooredQuotient(by: CivilDate.daysPerEra)
    let dayOfEra = shifted - era * CivilDate.daysPerEra
    // The subtracted terms remove the leap days before this day in its era of 400 years.
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let fromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
    month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  private static let daysPerEra: Int64 = 146_097
  /// The number of days from 0000-03-01, the start of the first era, to 1970-01-01.
  private static let daysToEpoch: Int64 = 719_468

  private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  /// Returns the quotient rounded towards minus infinity; `/` rounds towards zero.
  func flooredQuotient(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
